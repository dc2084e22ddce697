// Bundles each worker of the Chromium tests into one file, and likewise each page that a test opens as another tab
// (`?bundled`). In development, Vite serves a worker or page as one or two hundred modules, and most tests start
// several: loading them took more processor time than all the tests themselves.
//
// Bundles and SQLite's builds stay in the browser's cache for the whole run. Vite makes the browser revalidate every
// copy, after which Chromium compiles it again; that took a quarter of the remaining processor time.

import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'vite';
import { root } from '../children.mjs';
import { FOREVER } from './cached-modules.mjs';

const BUNDLED = /[?&](worker_file|bundled)\b/;
const WASM = /\.wasm$/;
/** Prefix of a path that is not relative to the root. */
const ABSOLUTE = '/@fs/';
const NEW_WORKER = /new Worker\(new URL\((['"])([^'"]+)\1,\s*import\.meta\.url\)/g;
const ASSET = /new URL\((['"])([^'"]+\.wasm)\1,\s*import\.meta\.url\)/g;

/**
 * Keeps the addresses of files beside the code, such as SQLite's, and of workers, because the bundle has a different
 * address.
 *
 * @returns {import('vite').Plugin}
 */
function keepAssets() {
  return {
    name: 'rockpool:keep-assets',
    enforce: 'pre',
    transform(code, id) {
      const file = id.split('?')[0] ?? id;
      const kept = code
        .replace(
          ASSET,
          (_match, _quote, path) =>
            `new URL(${JSON.stringify(`/@fs${resolve(dirname(file), path)}`)}, self.location.origin)`,
        )
        // The address that Vite gives the worker in a module that is not bundled.
        .replace(NEW_WORKER, (_match, _quote, path) => {
          const worker = relative(root, resolve(dirname(file), path)).replaceAll('\\', '/');
          return `new Worker(new URL(${JSON.stringify(`/${worker}?worker_file&type=module`)}, self.location.origin)`;
        });
      return kept === code ? null : { code: kept, map: null };
    },
  };
}

/**
 * @param {string} entry
 * @returns {Promise<string>}
 */
async function bundle(entry) {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    plugins: [keepAssets()],
    build: {
      write: false,
      minify: false,
      target: 'esnext',
      modulePreload: false,
      rolldownOptions: { input: entry, output: { format: 'es', codeSplitting: false }, preserveEntrySignatures: false },
    },
  });
  if (Array.isArray(built) || !('output' in built)) throw new Error(`${entry} produced no bundle`);
  const [chunk, ...others] = built.output.filter(({ type }) => type === 'chunk');
  if (chunk?.type !== 'chunk' || others.length > 0)
    throw new Error(`${entry} was bundled into ${others.length + 1} files instead of 1`);
  return chunk.code;
}

/** @returns {import('vite').Plugin} */
export function bundledWorkers() {
  /** @type {Map<string, Promise<string>>} */
  const bundles = new Map();
  return {
    name: 'rockpool:bundled-workers',
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const url = request.url ?? '';
        const [path = ''] = url.split('?');
        const file = path.startsWith(ABSOLUTE) ? path.slice(ABSOLUTE.length - 1) : join(root, path);
        /**
         * @param {string} type
         * @param {Promise<string | Buffer>} content
         */
        const send = (type, content) => {
          content.then((body) => {
            response.setHeader('Content-Type', type);
            response.setHeader('Cache-Control', FOREVER);
            response.end(body);
          }, next);
        };
        if (BUNDLED.test(url)) {
          const bundled = bundles.get(file) ?? bundle(file);
          bundles.set(file, bundled);
          send('text/javascript', bundled);
        } else if (WASM.test(path)) send('application/wasm', readFile(file));
        else next();
      });
    },
  };
}
