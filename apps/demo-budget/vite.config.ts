import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const publicFolder = new URL('public/', import.meta.url);

export default defineConfig({
  plugins: [react(), appFilesOfServiceWorker()],
  build: {
    target: 'es2023',
    rollupOptions: {
      input: { index: 'index.html', 'service-worker': 'service-worker/service-worker.ts' },
      // A service worker is identified by its URL, so its file name has no content hash.
      output: { entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js') },
    },
  },
  worker: { format: 'es' },
});

/**
 * Writes the list of this version's files into the service worker. Samples and source maps are fetched on demand
 * instead.
 */
function appFilesOfServiceWorker(): Plugin {
  return {
    name: 'app-files-of-service-worker',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const built = Object.keys(bundle).filter(
        (name) => name !== 'index.html' && name !== 'service-worker.js' && !name.endsWith('.map'),
      );
      const inPublic = readdirSync(publicFolder, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name);
      const files = ['/', ...[...built, ...inPublic].sort().map((name) => `/${name}`)];
      const worker = bundle['service-worker.js'];
      if (worker?.type !== 'chunk') throw new Error('the service worker was not built');
      // Most file names contain a content hash; the contents of the other files are added below.
      const hash = createHash('sha256').update(JSON.stringify(files));
      for (const name of inPublic) hash.update(readFileSync(new URL(name, publicFolder)));
      const page = bundle['index.html'];
      if (page?.type === 'asset') hash.update(page.source);
      const version = hash.digest('hex').slice(0, 16);
      worker.code = worker.code
        .replaceAll('__APP_FILES__', JSON.stringify(files))
        .replaceAll('__APP_VERSION__', JSON.stringify(version));
    },
  };
}
