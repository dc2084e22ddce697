import type { SqliteModule } from '../src/worker/sqlite/emscripten-module.ts';

/**
 * Each call makes a SQLite with a memory of its own. Without `wasmBinary` it fetches wa-sqlite.wasm from beside this
 * script.
 */
declare function createModule(options?: { readonly wasmBinary: Uint8Array }): Promise<SqliteModule>;
export default createModule;
