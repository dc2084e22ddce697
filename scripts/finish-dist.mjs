// Runs after tsc and rewrites the addresses of workers. TypeScript rewrites `./x.ts` to `./x.js` in imports, but not in
// `new URL('./x.ts', import.meta.url)`. Usage, in a package: node ../../scripts/finish-dist.mjs dist

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isMain } from './setup.mjs';

const moduleAddress = /new URL\(\s*(['"])(\.{1,2}\/[^'"]+?)\.(ts|tsx|js)\1\s*,\s*import\.meta\.url\s*\)/g;

/**
 * @param {string} code of an emitted file
 * @param {(address: string) => boolean} exists whether a file exists at this address, relative to the emitted file
 * @returns {string} the code with the addresses of emitted modules
 * @throws {Error} when an address names no emitted module: the worker would not start in an app that installed the
 * package
 */
export function rewriteModuleAddresses(code, exists) {
  return code.replace(moduleAddress, (_, quote, path) => {
    const address = `${path}.js`;
    if (!exists(address)) throw new Error(`new URL("${address}", import.meta.url) names no emitted file`);
    return `new URL(${quote}${address}${quote}, import.meta.url)`;
  });
}

if (isMain(import.meta.url)) {
  const dist = resolve(process.argv[2] ?? 'dist');
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.js')) continue;
    const file = join(entry.parentPath, entry.name);
    const code = readFileSync(file, 'utf8');
    const finished = rewriteModuleAddresses(code, (address) => existsSync(resolve(dirname(file), address)));
    if (finished !== code) writeFileSync(file, finished);
  }
}
