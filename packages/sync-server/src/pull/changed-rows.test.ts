import { encodeKey, type CellValue } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabaseFile, type DatabaseFile } from '../store/database-file.ts';
import { readRowValues, type RowKey } from '../store/row-store.ts';
import { ROWS_PER_SELECT, type StoredTable } from '../sqlite/stored-table.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { ChangedRows } from './changed-rows.ts';

let file: DatabaseFile;
beforeEach(() => {
  file = openDatabaseFile(':memory:', TEST_SCHEMA);
});
afterEach(() => file.sql.close());

const tableOf = (name: string): StoredTable => file.tableByName.get(name) as StoredTable;
const rowKey = (...key: CellValue[]): RowKey => ({ key, keyBytes: encodeKey(key) });

/** Two full batches and a partial one. */
const COUNT = 2 * ROWS_PER_SELECT + 3;

describe('the values of many rows', () => {
  it('are returned in the requested order', () => {
    const rows = Array.from({ length: COUNT }, (_, i) => rowKey(`k${(i * 37) % COUNT}`));
    for (const { key } of rows)
      file.sql.run(
        'INSERT INTO accounts (id, name, rank) VALUES (?, ?, ?)',
        key[0] as string,
        `name of ${String(key[0])}`,
        null,
      );
    const accounts = tableOf('accounts');
    expect(new ChangedRows(file).valuesOf(accounts, rows)).toEqual(
      rows.map(({ key, keyBytes }) => readRowValues(file, accounts, key, keyBytes)),
    );
  });

  it('are found by every part of the key', () => {
    const rows = Array.from({ length: COUNT }, (_, i) => rowKey(`e${i % 7}`, BigInt(i)));
    for (const { key } of rows) file.sql.run('INSERT INTO labels VALUES (?, ?)', ...key);
    expect(new ChangedRows(file).valuesOf(tableOf('labels'), rows)).toEqual(rows.map(() => new Map()));
    const [first, ...others] = rows as [RowKey, ...RowKey[]];
    file.sql.run('DELETE FROM labels WHERE position = 5');
    expect(() => new ChangedRows(file).valuesOf(tableOf('labels'), [...others, first])).toThrow(
      expect.objectContaining({ code: 'storage-corrupt' }),
    );
  });

  it('are read once for all readers', () => {
    const rows = Array.from({ length: COUNT }, (_, i) => rowKey(`k${i}`));
    for (const { key } of rows)
      file.sql.run('INSERT INTO accounts (id, name) VALUES (?, ?)', key[0] as string, String(key[0]));
    const changed = new ChangedRows(file);
    const read = changed.valuesOf(tableOf('accounts'), rows.slice(0, -1));
    const reads = [vi.spyOn(file.sql, 'get'), vi.spyOn(file.sql, 'all')];
    expect(changed.valuesOf(tableOf('accounts'), rows).slice(0, -1)).toEqual(read);
    expect(reads.map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  });
});
