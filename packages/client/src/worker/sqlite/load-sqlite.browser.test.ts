import { expect, it } from 'vitest';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import { Connection } from './connection.ts';
import { encodeRows } from './encode-rows.ts';
import { loadSqlite } from './load-sqlite.ts';
import { RowCapture } from './row-capture.ts';

it('SQLite loads in a browser with FTS5, JSON and capture', async () => {
  const runtime = await loadSqlite();
  const connection = new Connection(runtime, { path: ':memory:' });
  connection.exec(`CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, note TEXT); CREATE VIRTUAL TABLE f USING fts5(note)`);
  const capture = new RowCapture(connection, ['t']);
  connection.exec('BEGIN');
  capture.begin();
  connection.run('INSERT INTO t VALUES (?, ?)', 'a', 'prüfen 😀');
  expect(capture.readChangeset((bytes) => bytes.length)).toBeGreaterThan(0);
  capture.free();
  connection.exec('COMMIT');
  connection.run('INSERT INTO f SELECT note FROM t');
  const query = connection.prepare("SELECT note, json('[1]') AS list FROM f WHERE f MATCH 'prüfen'");
  expect(decodeRows(encodeRows(query))).toEqual([{ note: 'prüfen 😀', list: '[1]' }]);
  query.release();
  connection.close();
});
