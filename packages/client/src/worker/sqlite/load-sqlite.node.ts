import createModule from '../../../sqlite/wa-sqlite.node.mjs';
import { SqliteRuntime } from './sqlite-runtime.ts';

/** Loads the same SQLite under Node, for tests and simulations. Browser code never imports this file. */
export async function loadSqlite(): Promise<SqliteRuntime> {
  return new SqliteRuntime(await createModule());
}
