import { encodeKey, type CellValue, type ChangeGroup } from '@rockpool/shared';
import { encodeDocumentCell } from '@rockpool/shared/document';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { insert, remove, toBody, update, type Change } from '../../testing/changeset.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { ChangedRows } from './changed-rows.ts';
import { deliveredGroups } from './delivery.ts';
import { fullState } from './full-state.ts';

let database: LiveDatabase;
beforeEach(() => {
  database = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), { onFailure: () => undefined });
});
afterEach(() => database.close());

const write = (...changes: Change[]): Promise<number> => database.write(toBody(changes), 'ann', 1_700_000_000_000);
const content = (json: string): CellValue => encodeDocumentCell({ kind: 'content', json });

/** Reads the same rows as a reader that has written before, which gets each row by its versions. */
function rowByRow(): ChangeGroup[] {
  return deliveredGroups(database.file, new ChangedRows(database.file), { siteNumber: 999, from: 0, ownFrom: 0 }, []);
}

function rowsOf(groups: readonly ChangeGroup[]): unknown[] {
  const rows = groups.flatMap(({ tableId, kind, rowCount, keys, columnIds, values }) =>
    Array.from({ length: rowCount }, (_, r) => ({
      tableId,
      kind,
      key: keys.map((part) => part[r] ?? null),
      cells: columnIds.map((id, c) => [id, values[c]?.[r]] as const).sort(([a], [b]) => a - b),
    })),
  );
  return rows
    .filter(({ kind }) => kind !== 'delete')
    .sort((a, b) => a.tableId - b.tableId || Buffer.compare(encodeKey(a.key), encodeKey(b.key)));
}

describe('the full state', () => {
  it('is empty for a database without rows', () => {
    expect(fullState(database.file)).toEqual([]);
  });

  it('has every row, with values of every type, document states and the conflict log, and no deleted row', async () => {
    await write(
      insert('accounts', 'x', { name: 'Cash', rank: 2n ** 60n }),
      insert('entries', 'e', { account_id: 'x', amount: -1n, weight: 0.1, receipt: new Uint8Array([0, 255]) }),
      insert('entries', 'f', { amount: 0n, note: '' }),
      insert('labels', ['e', 1n], {}),
      insert('pages', 'p', { title: 'edited', content: content('{"n":1}') }),
      insert('pages', 'q', { title: 'none', content: null }),
      insert('products', 'gone', { stock: 1n }),
    );
    await write(
      update('pages', 'p', { title: 'again' }),
      remove('products', 'gone'),
      update('entries', 'f', { note: 'later' }),
    );
    database.file.sql.exec(
      `INSERT INTO rockpool_conflict (id, table_name, row_key, rule, lost_value, lost_by, won_by, lost_site, won_site, lost_at_ms, won_at_ms, watermark) VALUES ('1', 't', '[]', 'lww', x'00', '', '', '', '', 0, 0, 1)`,
    );
    const whole = fullState(database.file);
    expect(whole.every(({ kind }) => kind === 'insert')).toBe(true);
    const ofLedger = whole.filter(({ columnIds }) => columnIds.length > 10);
    expect(ofLedger.map(({ rowCount }) => rowCount)).toEqual([1]);
    expect(rowsOf(whole.filter((group) => !ofLedger.includes(group)))).toEqual(rowsOf(rowByRow()));
    expect(rowsOf(whole)).toHaveLength(7);
  });
});
