import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { openDatabaseFile } from './database-file.ts';
import { verifyPages } from './verify-pages.ts';

function create(path: string, rows: number): void {
  const { sql } = openDatabaseFile(path, TEST_SCHEMA, { databaseId: 'a' });
  sql.transaction(() => {
    for (let i = 0; i < rows; i++) sql.run('INSERT INTO accounts (id, name) VALUES (?, ?)', `${i}`, `${i}`.padEnd(500));
  });
  sql.close();
}

it('verifyPages reports no damage in a file that is replaced meanwhile', async () => {
  const [path, next] = ['old', 'new'].map((name) => join(temporaryFolder(), name)) as [string, string];
  create(path, 10);
  create(next, 20);
  const bytes = readFileSync(path);
  bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  expect((await verifyPages(path)).damaged).toEqual([2]);
  const pause = (): Promise<void> => {
    for (const suffix of ['', '-sums']) renameSync(next + suffix, path + suffix);
    return Promise.resolve();
  };
  expect(await verifyPages(path, { pause })).toEqual({ compared: 0, unknown: 0, damaged: [] });
  expect((await verifyPages(path)).damaged).toEqual([]);
});
