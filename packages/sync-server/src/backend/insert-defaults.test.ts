import { buildSchema, decodeChangesetBody, type CellValue } from '@rockpool/shared';
import { expect, it, onTestFinished } from 'vitest';
import { column, table } from '../../testing/test-schema.ts';
import { openDatabaseFile, type DatabaseFile } from '../store/database-file.ts';
import type { BackendRow } from './column-value.ts';
import { collectChangeset } from './backend-transaction.ts';

const COLUMNS = [
  column('id', 'text', { notNull: true, defaultSql: `'row-' || abs(random())` }),
  column('place', 'integer', { notNull: true, defaultSql: '7' }),
  column('version', 'text', { notNull: true, defaultSql: '1.0' }),
  column('size', 'real', { defaultSql: '2' }),
  column('seconds', 'integer', { defaultSql: `unixepoch('2026-01-01 00:00:00.5', 'subsec')` }),
  column('note', 'text'),
];

function open(): DatabaseFile {
  const file = openDatabaseFile(':memory:', buildSchema([table('items', COLUMNS, { primaryKey: ['id', 'place'] })]));
  onTestFinished(() => file.sql.close());
  return file;
}

/** The rows of a transaction that inserts `rows`: the parts of the key, then the other columns. */
function inserted(file: DatabaseFile, ...rows: BackendRow[]): CellValue[][] {
  const changeset = collectChangeset(file, (tx) => {
    for (const row of rows) tx.insert('items', row);
  });
  return decodeChangesetBody(changeset?.body ?? new Uint8Array()).groups.map(({ keys, values }) =>
    [...keys, ...values].map(([value]) => value as CellValue),
  );
}

it('an insert stores the defaults that the same insert stores in SQLite, also in its key', () => {
  const file = open();
  const [row, other] = inserted(file, {}, {}) as [CellValue[], CellValue[]];
  file.sql.run('INSERT INTO items DEFAULT VALUES');
  const sqlite = file.sql.get('SELECT * FROM items') ?? [];
  expect(row.slice(1)).toEqual(sqlite.slice(1));
  expect(row.slice(1)).toEqual([7n, '1.0', 2, 1_767_225_600.5, null]);
  // An expression is evaluated for each row.
  for (const [id] of [row, other]) expect(id).toMatch(/^row-\d+$/);
  expect(row[0]).not.toBe(other[0]);
});

it('an insert keeps the values that it has, NULL included', () => {
  const given = { id: 'a', place: 1, version: null, size: null, seconds: null };
  expect(inserted(open(), given)).toEqual([['a', 1n, null, null, null, null]]);
  expect(inserted(open(), { id: 'a', version: '2' })[0]?.slice(0, 3)).toEqual(['a', 7n, '2']);
});
