// Bundles each worker of the Chromium tests into one file, and so the page that is another tab (`?bundled`). In
// development, Vite serves either as one or two hundred modules, and most tests start several: loading them took more
// processor time than all the tests themselves.

import { dirname, relative, resolve } from 'node:path';
import { build } from 'vite';
import { root } from '../children.mjs';

const BUNDLED = /[?&](worker_file|bundled)\b/;
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
    enforce: 'pre',
    async load(id) {
      if (!BUNDLED.test(id)) return null;
      const entry = id.split('?')[0] ?? id;
      const bundled = bundles.get(entry) ?? bundle(entry);
      bundles.set(entry, bundled);
      return { code: await bundled, map: null };
    },
  };
}
