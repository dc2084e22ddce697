import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { copyDatabase } from './copy-database.ts';

it('a copy that fails leaves no file, and keeps a file that was there before', () => {
  const [path, copy] = ['database', 'copy'].map((name) => join(temporaryFolder(), name)) as [string, string];
  const sql = new SqliteFile(path, { hasChecksums: false });
  sql.exec('CREATE TABLE t (a TEXT)');
  sql.transaction(() => {
    for (let i = 0; i < 2_000; i++) sql.run('INSERT INTO t VALUES (?)', 'x'.repeat(1_000));
  });
  sql.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, bytes.length - 100_000, bytes.length - 50_000);
  writeFileSync(path, bytes);
  expect(() => copyDatabase(path, copy)).toThrow();
  expect(existsSync(copy)).toBe(false);
  writeFileSync(copy, 'of the operator');
  expect(() => copyDatabase(path, copy)).toThrow();
  expect(readFileSync(copy, 'utf8')).toBe('of the operator');
});
