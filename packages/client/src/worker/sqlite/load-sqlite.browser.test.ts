import { expect, it } from 'vitest';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import { Connection } from './connection.ts';
import { encodeRows } from './encode-rows.ts';
import { loadSqlite } from './load-sqlite.ts';
import { Session } from './session.ts';

it('SQLite loads in a browser with FTS5, JSON and sessions', async () => {
  const runtime = await loadSqlite();
  const connection = new Connection(runtime, { path: ':memory:' });
  connection.exec(`CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, note TEXT); CREATE VIRTUAL TABLE f USING fts5(note)`);
  const name = runtime.memory.allocateCString('t');
  const session = new Session(connection, runtime.memory.allocateCString('main'), [name]);
  connection.run('INSERT INTO t VALUES (?, ?)', 'a', 'prüfen 😀');
  expect(session.readChangeset((bytes) => bytes.length)).toBeGreaterThan(0);
  session.delete();
  connection.run('INSERT INTO f SELECT note FROM t');
  const query = connection.prepare("SELECT note, json('[1]') AS list FROM f WHERE f MATCH 'prüfen'");
  expect(decodeRows(encodeRows(query, runtime.memory))).toEqual([{ note: 'prüfen 😀', list: '[1]' }]);
  query.release();
  connection.close();
});
