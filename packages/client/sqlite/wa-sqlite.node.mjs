// The same build for Node, whose `fetch` cannot read files.
import { readFile } from 'node:fs/promises';
import createModule from './wa-sqlite.mjs';

/** @returns {ReturnType<typeof createModule>} */
export default async function createModuleInNode() {
  return createModule({ wasmBinary: await readFile(new URL('wa-sqlite.wasm', import.meta.url)) });
}
