import { encodeKey, EXISTENCE_COLUMN_ID, buildSchema, tablePolicies } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { CellBaseTable } from './cell-base-table.ts';
import type { ColumnRules, PendingRowChange } from './row-state.ts';

const NAME = 7;
const ROW = { tableId: 1, key: ['a'], keyText: 'ta' };
const RULES: ColumnRules = { documents: new Map(), policies: tablePolicies([]) };

it.each([
  ['that of the cell', new Map([[NAME, 3]]), 3],
  ['that of the row, if the row itself was covered', new Map([[EXISTENCE_COLUMN_ID, 2]]), 2],
  [
    'the older of both',
    new Map([
      [EXISTENCE_COLUMN_ID, 2],
      [NAME, 1],
    ]),
    1,
  ],
  ['the base of the changeset, if nothing was covered', new Map<number, number>(), 9],
])('the cell base of the covering write is stored: %s', (_, cellBases, expected) => {
  const database = openInMemory({ schema: buildSchema([testTable('account', { id: 'text not null', name: 'text' })]) });
  const pending: PendingRowChange = {
    sequence: 1,
    base: 9,
    cellBases,
    kind: 'update',
    values: new Map([[NAME, 'mine']]),
    before: new Map(),
  };
  new CellBaseTable(database.connection).write(ROW, new Map(), new Map([[NAME, 'theirs']]), [pending], RULES);
  expect(database.connection.rows('SELECT base FROM rockpool_base WHERE key = ?', encodeKey(ROW.key))).toEqual(
    [[BigInt(expected)]].map(([base]) => [Number(base)]),
  );
  database.close();
});
