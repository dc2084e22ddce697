import createModule from '../../../sqlite/wa-sqlite.mjs';
import { SqliteRuntime } from './sqlite-runtime.ts';

/** Loads SQLite in a browser or its worker. Fetches the .wasm file from beside the build's own script. */
export async function loadSqlite(): Promise<SqliteRuntime> {
  return new SqliteRuntime(await createModule());
}
