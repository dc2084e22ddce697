import createModule from 'wa-sqlite/dist/fts5/wa-sqlite.node.mjs';
import type { SqliteModule } from './emscripten-module.ts';
import { SqliteRuntime } from './sqlite-runtime.ts';

/** Loads the same SQLite under Node, for tests and simulations; nothing that a browser runs imports this file. */
export async function loadSqlite(): Promise<SqliteRuntime> {
  return new SqliteRuntime((await createModule()) as SqliteModule);
}
