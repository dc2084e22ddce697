import { createServer } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import type { AddressInfo } from 'node:net';
import { build } from 'vite';
import { root } from '../../scripts/children.mjs';
import { CommandMailbox } from './command-mailbox.ts';
import { POWERSYNC_WORKER_PATH } from './served-paths.ts';

const benchmarks = join(root, 'benchmarks');
const powerSync = join(benchmarks, 'storage/node_modules/@powersync/web/dist/worker');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** The folder of the built pages with this name. */
const outputOf = (name: string): string => join(benchmarks, 'dist', name);

/**
 * Builds the pages in a folder as an app would be built: minified, one chunk per subject. `alias`: folders of packages.
 */
export async function buildPages(
  folder = join(benchmarks, 'page'),
  name = 'pages',
  alias: Readonly<Record<string, string>> = {},
): Promise<void> {
  await build({
    root: folder,
    configFile: false,
    resolve: { alias },
    logLevel: 'error',
    // absurd-sql's SQLite asks for Node's `process` at start.
    define: { 'process.env': '{}' },
    worker: { format: 'es' },
    build: {
      outDir: outputOf(name),
      emptyOutDir: true,
      target: 'esnext',
      modulePreload: false,
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 10_000,
    },
  });
}

export interface ServedPages {
  /** For pages in browsers without remote script execution. */
  readonly mailbox: CommandMailbox;
  urlOf(host: string): string;
  close(): void;
}

/**
 * Serves the built pages on any host name that resolves to this machine, so that each subject has its own origin and
 * therefore its own storage.
 */
export async function servePages(name = 'pages', port = 0): Promise<ServedPages> {
  const mailbox = new CommandMailbox();
  const server = createServer((request, response) => {
    if (mailbox.handle(request, response)) return;
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    const file = path.startsWith(POWERSYNC_WORKER_PATH)
      ? join(powerSync, path.slice(POWERSYNC_WORKER_PATH.length))
      : join(outputOf(name), path === '/' ? 'index.html' : path);
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      'content-type': CONTENT_TYPES[extname(file)] ?? 'application/octet-stream',
      'cache-control': 'public, max-age=31536000',
      // Cross-origin isolation gives absurd-sql the shared memory that it needs, and every subject finer clocks.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-resource-policy': 'same-origin',
    });
    response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: listening } = server.address() as AddressInfo;
  return {
    mailbox,
    urlOf: (host) => `http://${host === '' ? '' : `${host}.`}localhost:${listening}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
