import { loadChangelogCode } from '#client/worker/changelog/load-changelog-code.ts';
import { loadDocumentSupport } from '#client/worker/documents/load-document-support.ts';
import { Connection } from '#client/worker/sqlite/connection.ts';
import { loadSqlite } from '#client/worker/sqlite/load-sqlite.node.ts';
import type { SqliteRuntime } from '#client/worker/sqlite/sqlite-runtime.ts';
import type { Runtimes } from './tab.ts';

let runtimes: { readonly loaded: Runtimes; uses: number } | null = null;

// A runtime serves only this many histories, because a database that is killed in an operation may leak memory in
// SQLite.
const HISTORIES_PER_RUNTIME = 200;

/**
 * SQLite, loaded once for many histories, and all code that the client loads on first use: in a history, which runs in
 * virtual time, loading would take real time.
 */
export async function loadRuntimes(): Promise<Runtimes> {
  await loadDocumentSupport();
  await loadChangelogCode();
  await import('#client/worker/sync/http-transport.ts');
  await import('#client/worker/sync/schema-difference.ts');
  if (runtimes === null || runtimes.uses >= HISTORIES_PER_RUNTIME)
    runtimes = { loaded: { writers: await seededSqlite(), readers: await seededSqlite() }, uses: 0 };
  runtimes.uses++;
  return runtimes.loaded;
}

/**
 * SQLite takes random bytes once, for its first random number. In a history, that would shift all numbers that follow.
 */
async function seededSqlite(): Promise<SqliteRuntime> {
  const runtime = await loadSqlite();
  const connection = new Connection(runtime, { path: ':memory:' });
  connection.value('SELECT random()');
  connection.close();
  return runtime;
}
