import { RockpoolError } from '@rockpool/shared';
import createModule from '../../../sqlite/wa-sqlite.mjs';
import { SqliteRuntime } from './sqlite-runtime.ts';

/**
 * Loads SQLite in a browser or its worker. Fetches the .wasm file from beside the build's own script. Rejects with
 * `code-unloadable` if the file is missing or a Content-Security-Policy forbids WebAssembly; `problem` is the browser's
 * message.
 */
export async function loadSqlite(): Promise<SqliteRuntime> {
  const module = await createModule().catch((cause: unknown) => {
    throw new RockpoolError('code-unloadable', { part: 'sqlite', problem: String(cause) }, { cause });
  });
  return new SqliteRuntime(module);
}
