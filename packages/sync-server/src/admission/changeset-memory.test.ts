import { columnIdOf, encodeChangesetBody, tableIdOf, type CellValue } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { usedMemory } from '../../testing/used-memory.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { readChangeset } from './read-changeset.ts';
import { openDatabaseFile } from '../store/database-file.ts';

const ROWS = 131_000;
const COLUMNS = ['account_id', 'amount', 'note', 'weight', 'receipt'];

it('the server reads a changeset of many rows without copying each row', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  try {
    const body = encodeChangesetBody({
      atomic: false,
      cellBases: [],
      groups: [
        {
          tableId: tableIdOf('entries'),
          kind: 'insert',
          rowCount: ROWS,
          keys: [Array.from({ length: ROWS }, (_, i) => `k${i}`)],
          columnIds: COLUMNS.map(columnIdOf),
          values: [null, 1n, 'n', null, null].map((value) => new Array<CellValue>(ROWS).fill(value)),
        },
      ],
    });
    const before = usedMemory().heapBytes;
    const { writes } = readChangeset(body, file);
    const bytes = usedMemory().heapBytes - before;
    expect(writes).toHaveLength(ROWS);
    expect([...(writes[7]?.values ?? [])]).toEqual(
      [null, 1n, 'n', null, null].map((v, i) => [columnIdOf(COLUMNS[i] as string), v]),
    );
    expect(bytes).toBeLessThan(40 * body.length);
  } finally {
    file.sql.close();
  }
});
