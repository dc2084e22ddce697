import { auditedColumnIds, columnIdOf, TableFingerprint, type AuditedTable } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { insert, toBody, type Change } from '../../testing/changeset.ts';
import { ACCOUNTS, TEST_SCHEMA } from '../../testing/test-schema.ts';
import { TableAudits } from './table-audits.ts';

let database: LiveDatabase;
beforeEach(() => {
  database = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), { onFailure: () => undefined });
});
afterEach(() => database.close());

const write = (...changes: Change[]): Promise<number> => database.write(toBody(changes), 'ann', 1_700_000_000_000);

function accounts(rows: readonly (readonly [id: string, name: string])[], rangeCount = 1): AuditedTable {
  const fingerprint = new TableFingerprint(ACCOUNTS, rangeCount);
  for (const [id, name] of rows)
    fingerprint.add(
      [id],
      auditedColumnIds(ACCOUNTS).map((columnId) => (columnId === columnIdOf('name') ? name : null)),
    );
  return { tableId: ACCOUNTS.id, sums: [...fingerprint.sums] };
}

describe('an audit', () => {
  it('compares only at the watermark that both sides share', async () => {
    const watermark = await write(insert('accounts', 'x', { name: 'Cash' }));
    const audits = new TableAudits(database.file);
    expect(
      await audits.answer({ type: 'audit', cursor: watermark, tables: [accounts([['x', 'Cash']])] }),
    ).toMatchObject({ compared: true, differing: [] });
    expect(await audits.answer({ type: 'audit', cursor: watermark - 1, tables: [accounts([])] })).toMatchObject({
      compared: false,
      differing: [],
      groups: [],
    });
  });

  it('compares nothing if the log grows while it reads', async () => {
    const watermark = await write(insert('accounts', 'x', { name: 'Cash' }));
    const answer = new TableAudits(database.file).answer({ type: 'audit', cursor: watermark, tables: [accounts([])] });
    await write(insert('accounts', 'y', { name: 'Bank' }));
    expect(await answer).toMatchObject({ compared: false });
  });

  it('names the table that differs, then sends the rows of the differing ranges', async () => {
    const watermark = await write(insert('accounts', 'x', { name: 'Cash' }), insert('accounts', 'y', { name: 'Bank' }));
    const audits = new TableAudits(database.file);
    const theirs = [
      ['x', 'Cash'],
      ['y', 'Till'],
    ] as const;
    expect(await audits.answer({ type: 'audit', cursor: watermark, tables: [accounts(theirs)] })).toMatchObject({
      compared: true,
      differing: [{ tableId: ACCOUNTS.id, ranges: [] }],
      groups: [],
    });
    const { differing, groups } = await audits.answer({
      type: 'audit',
      cursor: watermark,
      tables: [accounts(theirs, 64)],
    });
    expect(differing.map(({ ranges }) => ranges.length)).toEqual([1]);
    expect(groups.map(({ keys }) => keys)).toEqual([[['y']]]);
  });

  it('is refused for an unknown table', async () => {
    await expect(
      new TableAudits(database.file).answer({ type: 'audit', cursor: 0, tables: [{ tableId: 1, sums: [0, 0] }] }),
    ).rejects.toMatchObject({ code: 'schema-unknown-table' });
  });
});
