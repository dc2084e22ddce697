import { DatabaseSync } from 'node:sqlite';
import { readFileSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { expect, test } from 'vitest';
import { toStoreError } from './store-failure.ts';

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function withDatabase(action: (sql: DatabaseSync) => unknown): unknown {
  const sql = new DatabaseSync(':memory:');
  try {
    return thrownBy(() => action(sql));
  } finally {
    sql.close();
  }
}

const failures: readonly (readonly [name: string, thrown: unknown, code: string])[] = [
  [
    'a full disk, for which a client waits',
    withDatabase((sql) => {
      sql.exec('PRAGMA max_page_count = 1; CREATE TABLE notes (text TEXT)');
    }),
    'server-disk-full',
  ],
  [
    'a locked file, for which a client waits',
    withDatabase((sql) => {
      sql.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('a'), ('b')");
      for (const _ of sql.prepare('SELECT * FROM notes').iterate()) sql.exec('DROP TABLE notes');
    }),
    'database-unavailable',
  ],
  ['a file that does not open', thrownBy(() => readFileSync('/nowhere')), 'database-unavailable'],
  ['a statement that is wrong, which is a bug', withDatabase((sql) => sql.exec('SELEC')), 'internal'],
  ['a program error, which is a bug', thrownBy(() => new Array(-1)), 'internal'],
  ['a wrong argument, which is a bug', thrownBy(() => readFileSync(Number.NaN)), 'internal'],
  ['an error of Rockpool, as it is', new RockpoolError('quota-exceeded'), 'quota-exceeded'],
];

test.each(failures)('the failure of a store is reported as %s', (_, thrown, code) => {
  expect(toStoreError(thrown).code).toBe(code);
});
