// Bundles the scripts that the sync server runs on threads and in processes of their own, and its command, for tests
// that run the server from its sources. Node resolves and reads a hundred sources or more whenever such a script
// starts, and tests start hundreds of them: that took half of the processor time of a start.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import { root } from '../children.mjs';
import { sourceFiles } from './test-files.mjs';

const SERVER = 'packages/sync-server';
/**
 * Scripts of the server that are started by their address, such as `database-worker.ts`, and the code of its command.
 */
const ENTRY = new RegExp(`^${SERVER}/(src/.*-(worker|process)\\.ts|src/cli\\.ts|bin/rockpool-server\\.mjs)$`);
const SOURCE = new RegExp(`/${SERVER}/(src|testing)/.*\\.ts$`);
const ADDRESS =
  /new URL\('\.\/([\w-]+-(?:worker|process))\.ts', import\.meta\.url\)|new URL\('\.\.\/bin\/(rockpool-server)\.mjs', import\.meta\.url\)/g;
/** How the command names its code. */
const COMMAND_CODE = "'../src/cli.ts'";

/** @typedef {ReadonlyMap<string, string>} Addresses the address of each bundle, by the name of its script */

/** The bundles of this process. @type {Promise<Addresses> | undefined} */
let bundles;

/**
 * Replaces the addresses of scripts by those of their bundles, in the sources of the server and of its test kit.
 *
 * @returns {import('vite').Plugin}
 */
export function bundledScripts() {
  return {
    name: 'rockpool:bundled-scripts',
    enforce: 'pre',
    configureVitest({ defineCacheKeyGenerator }) {
      // Vitest keeps transformed modules for later runs, which have other bundles.
      defineCacheKeyGenerator(({ id, sourceCode }) => (namesScript(sourceCode, id) ? false : undefined));
    },
    async transform(code, id) {
      if (!namesScript(code, id)) return null;
      bundles ??= bundleAll();
      return { code: withAddresses(code, await bundles), map: null };
    },
  };
}

/**
 * @param {string} code
 * @param {string} id
 */
function namesScript(code, id) {
  return SOURCE.test(id) && code.search(ADDRESS) !== -1;
}

/** @returns {Promise<Addresses>} */
async function bundleAll() {
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-scripts-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const input = Object.fromEntries(
    sourceFiles()
      .filter((file) => ENTRY.test(file))
      .map((file) => [basename(file).replace(/\.\w+$/, ''), join(root, file)]),
  );
  const addresses = new Map(Object.keys(input).map((name) => [name, pathToFileURL(join(folder, `${name}.mjs`)).href]));
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    publicDir: false,
    plugins: [keepAddresses(addresses)],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: folder,
      minify: false,
      target: 'esnext',
      rolldownOptions: {
        input,
        output: { format: 'es', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  });
  return addresses;
}

/**
 * Keeps the addresses of files beside the code, because the bundles are in another folder.
 *
 * @param {Addresses} addresses
 * @returns {import('vite').Plugin}
 */
function keepAddresses(addresses) {
  return {
    name: 'rockpool:keep-addresses',
    enforce: 'pre',
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null;
      const file = id.split('?')[0] ?? id;
      const kept = withAddresses(code, addresses)
        .replace(COMMAND_CODE, JSON.stringify(addresses.get('cli')))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href));
      return { code: kept, map: null };
    },
  };
}

/**
 * @param {string} code
 * @param {Addresses} addresses
 */
function withAddresses(code, addresses) {
  return code.replace(ADDRESS, (whole, script, command) => {
    const address = addresses.get(script ?? command);
    return address === undefined ? whole : `new URL(${JSON.stringify(address)})`;
  });
}
