import { join } from 'node:path';
import { root } from '../../scripts/children.mjs';

const THREADS = ['snapshot/snapshot-worker.ts', 'documents/document-worker.ts'];

const output = join(root, 'benchmarks/dist/sync');

export const BUILT_SERVER: string = join(output, 'rockpool-server.js');

/** Our server compiled to JavaScript: running it from source would add the memory of the type stripper. */
export async function buildServer(): Promise<void> {
  const { build } = await import('vite');
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: output,
      emptyOutDir: true,
      target: 'node24',
      rollupOptions: {
        input: [
          join(import.meta.dirname, 'engines/rockpool-server.ts'),
          ...THREADS.map((file) => join(root, 'packages/sync-server/src', file)),
        ],
        // The server starts its threads from files with these names, next to its own file.
        output: {
          entryFileNames: ({ name }) => (name === 'rockpool-server' ? '[name].js' : '[name].ts'),
          chunkFileNames: '[name].js',
        },
      },
    },
  });
}
