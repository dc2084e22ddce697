import { encodeKey, tableIdOf } from '@rockpool/shared';
import { afterEach, expect, it } from 'vitest';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { openDatabaseFile, type DatabaseFile } from '../store/database-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { MergedRow } from './merged-row.ts';
import { MAX_CASCADED_ROWS, MergedRows } from './merged-rows.ts';
import { rowName, type RowWrite } from './row-write.ts';

const file: DatabaseFile = openDatabaseFile(':memory:', TEST_SCHEMA);
const TABLE_ID = tableIdOf('stickers');
const table = file.tableById.get(TABLE_ID) as StoredTable;
afterEach(() => file.sql.close());

function deletedRow(number: number): MergedRow {
  const key = ['x', `s${number}`];
  const write: RowWrite = {
    table,
    kind: 'delete',
    key,
    keyBytes: encodeKey(key),
    name: rowName(TABLE_ID, key),
    values: new Map(),
    cellBases: new Map(),
  };
  return { write, before: undefined, after: undefined, conflicts: [], corrected: [] };
}

it('foreign keys may delete MAX_CASCADED_ROWS rows, besides those that the changeset contains, and no more', () => {
  const rows = new MergedRows(file, [deletedRow(0)]);
  for (let number = 0; number <= MAX_CASCADED_ROWS; number++) rows.set(deletedRow(number));
  // A row that is there already needs no room.
  rows.set(deletedRow(MAX_CASCADED_ROWS));
  expect(rows.room).toBe(0);
  expect(() => rows.set(deletedRow(MAX_CASCADED_ROWS + 1))).toThrow(
    expect.objectContaining({
      code: 'changeset-too-large',
      fields: expect.objectContaining({ limitRows: MAX_CASCADED_ROWS }) as object,
    }) as Error,
  );
});
