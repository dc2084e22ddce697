// Bundles each worker of the Chromium tests into one file and the parts that it loads on demand, and likewise each page
// that a test opens as another tab (`?bundled`). In development, Vite serves a worker or page as one or two hundred
// modules, and most tests start several: loading them took more processor time than all the tests themselves.
//
// Bundles and SQLite's builds stay in the browser's cache for the whole run. Vite makes the browser revalidate every
// copy, after which Chromium compiles it again; that took a quarter of the remaining processor time.

import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build } from 'vite';
import { root } from '../children.mjs';
import { FOREVER } from './cached-modules.mjs';

const BUNDLED = /[?&](worker_file|bundled)\b/;
/** Folder, beside a bundled file, of the parts that it loads on demand. */
const PARTS = 'bundled-parts/';
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
 * Collects the modules that a bundle needs at its start, while it is built. They share one file: further files would
 * cost every worker a request each.
 *
 * @param {string} entry
 * @returns {{ plugin: import('vite').Plugin, has: (id: string) => boolean }}
 */
function startOf(entry) {
  const ids = new Set([entry]);
  return {
    plugin: {
      name: 'rockpool:modules-of-the-start',
      buildEnd() {
        for (const id of ids) for (const imported of this.getModuleInfo(id)?.importedIds ?? []) ids.add(imported);
      },
    },
    has: (id) => ids.has(id),
  };
}

/**
 * Bundles a file. What it loads on demand remains separate, as in an app: otherwise every worker would parse it.
 *
 * @param {string} entry
 * @param {string} query of the address under which the browser requests the bundle
 * @returns {Promise<{ code: string, parts: Map<string, string> }>} `parts`: code by path
 */
async function bundle(entry, query) {
  const start = startOf(entry);
  const built = await build({
    configFile: false,
    logLevel: 'error',
    plugins: [keepAssets(), start.plugin],
    build: {
      write: false,
      minify: false,
      target: 'esnext',
      modulePreload: false,
      rolldownOptions: {
        input: entry,
        output: {
          format: 'es',
          entryFileNames: basename(entry),
          chunkFileNames: `${PARTS}[name]-[hash].js`,
          codeSplitting: { groups: [{ name: 'start', test: start.has }] },
        },
        preserveEntrySignatures: false,
      },
    },
  });
  if (Array.isArray(built) || !('output' in built)) throw new Error(`${entry} produced no bundle`);
  const chunks = built.output.filter((file) => file.type === 'chunk');
  // A part imports modules of the start from the bundle, which must not be loaded again under another address.
  const [local, address] = [`"../${basename(entry)}"`, `"../${basename(entry)}?${query}"`];
  const files = new Map(chunks.map(({ fileName, code }) => [join(dirname(entry), fileName), code]));
  const code = files.get(entry);
  if (code === undefined) throw new Error(`${entry} produced no bundle`);
  files.delete(entry);
  return { code, parts: new Map([...files].map(([path, part]) => [path, part.replaceAll(local, address)])) };
}

/** @returns {import('vite').Plugin} */
export function bundledWorkers() {
  /** @type {Map<string, Promise<string>>} */
  const bundles = new Map();
  /** @type {Map<string, string>} */
  const parts = new Map();
  /**
   * @param {string} file
   * @param {string} query
   */
  const bundleWithParts = async (file, query) => {
    const { code, parts: own } = await bundle(file, query);
    for (const [path, part] of own) parts.set(path, part);
    return code;
  };
  return {
    name: 'rockpool:bundled-workers',
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const url = request.url ?? '';
        const [path = '', query = ''] = url.split('?');
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
        const part = parts.get(file);
        if (BUNDLED.test(url)) {
          const bundled = bundles.get(file) ?? bundleWithParts(file, query);
          bundles.set(file, bundled);
          send('text/javascript', bundled);
        } else if (part !== undefined) send('text/javascript', Promise.resolve(part));
        else if (WASM.test(path)) send('application/wasm', readFile(file));
        else next();
      });
    },
  };
}
