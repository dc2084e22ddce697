import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { SqliteFile } from './sqlite-file.ts';
import { WarmFiles, warmFiles, type WarmFile } from './warm-files.ts';

it('the least recently used files release their memory', () => {
  const released: string[] = [];
  const file = (name: string): WarmFile => ({ releaseMemory: () => void released.push(name) });
  const files = new WarmFiles(3);
  const [a, b, c, d] = [file('a'), file('b'), file('c'), file('d')];
  for (const used of [a, b, c, c, a]) files.use(used);
  expect(released).toEqual([]);
  files.use(d);
  expect(released).toEqual(['b']);
  files.forget(d);
  files.use(b);
  expect(released).toEqual(['b']);
  files.use(d);
  expect(released).toEqual(['b', 'c']);
});

it('a file that has released its memory works as before, also in the middle of a query', () => {
  const sql = new SqliteFile(join(temporaryFolder(), 'a.sqlite'));
  sql.transaction(() => {
    sql.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)');
    for (let i = 0; i < 500; i++) sql.run('INSERT INTO t VALUES (?, ?)', BigInt(i), 'x'.repeat(500));
  });
  let count = 0;
  for (const [id] of sql.rows('SELECT id FROM t ORDER BY id')) {
    if (count % 100 === 0) sql.releaseMemory();
    expect(id).toBe(BigInt(count++));
  }
  sql.transaction(() => {
    sql.run('DELETE FROM t WHERE id < 250');
    sql.releaseMemory();
    expect(sql.get('SELECT count(*) FROM t')).toEqual([250n]);
  });
  expect(sql.get('PRAGMA integrity_check')).toEqual(['ok']);
  expect(count).toBe(500);
  sql.close();
});

it('a file that is used during or after its closing is not kept open', () => {
  const path = join(temporaryFolder(), 'a.sqlite');
  const sql = new SqliteFile(path);
  expect(warmFiles.has(sql)).toBe(true);
  const nothing = (): void => undefined;
  sql.watch({ onCommit: nothing, onCheckpoint: nothing, onClosing: () => void sql.get('SELECT 1'), onClosed: nothing });
  sql.close();
  expect(warmFiles.has(sql)).toBe(false);
  expect(() => sql.get('SELECT 2')).toThrow('not open');
  expect(() => sql.transaction(() => undefined)).toThrow('not open');
  expect(warmFiles.has(sql)).toBe(false);
});
