import {
  auditedColumnIds,
  columnIdOf,
  encodeMessage,
  TableFingerprint,
  type AuditAnswer,
  type AuditedTable,
  type CellValue,
} from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { insert, toBody, type Change } from '../../testing/changeset.ts';
import { ACCOUNTS, ENTRIES, PAGES, TEST_SCHEMA } from '../../testing/test-schema.ts';
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

/** The table `entries` of a client with these rows, in 64 ranges. */
function entries(rows: ReadonlyMap<string, readonly CellValue[]>): AuditedTable {
  const fingerprint = new TableFingerprint(ENTRIES, 64);
  for (const [id, cells] of rows) fingerprint.add([id], cells);
  return { tableId: ENTRIES.id, sums: [...fingerprint.sums] };
}

/** The cells of the rows in an answer, by id. */
function rowsOf({ groups }: AuditAnswer): Map<string, readonly CellValue[]> {
  return new Map(
    groups.flatMap(({ rowCount, keys, values }) =>
      Array.from({ length: rowCount }, (_, row): [string, CellValue[]] => [
        keys[0]?.[row] as string,
        values.map((column) => column[row] ?? null),
      ]),
    ),
  );
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

  it('compares JSON that was stored before its column became a document in the form in which clients receive it', async () => {
    const watermark = await write(insert('pages', 'p', { title: 'page', content: null }));
    database.file.sql.run(`UPDATE pages SET content = '{"b":1, "a":2}'`);
    const audit = (content: string): AuditedTable => {
      const fingerprint = new TableFingerprint(PAGES);
      const cells = auditedColumnIds(PAGES).map((columnId) => (columnId === columnIdOf('content') ? content : 'page'));
      fingerprint.add(['p'], cells);
      return { tableId: PAGES.id, sums: [...fingerprint.sums] };
    };
    const audits = new TableAudits(database.file);
    const differing = async (content: string): Promise<number> =>
      (await audits.answer({ type: 'audit', cursor: watermark, tables: [audit(content)] })).differing.length;
    expect([await differing('{"a":2,"b":1}'), await differing('{"b":1, "a":2}')]).toEqual([0, 1]);
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

  it('sends at most 4 MiB of rows at a time, and more if a single range has more', async () => {
    const note = 'x'.repeat(500_000);
    for (let row = 0; row < 20; row++) await write(insert('entries', `e${row}`, { amount: 1n, note }));
    const watermark = await write(insert('entries', 'large', { amount: 1n, receipt: new Uint8Array(5_000_000) }));
    const sizes: number[] = [];
    const repaired = new Map<string, readonly CellValue[]>();
    const audits = new TableAudits(database.file);
    for (let isEqual = false; !isEqual;) {
      const answer = await audits.answer({ type: 'audit', cursor: watermark, tables: [entries(repaired)] });
      isEqual = answer.differing.length === 0;
      sizes.push(encodeMessage(answer).length);
      for (const [id, cells] of rowsOf(answer)) repaired.set(id, cells);
    }
    expect(repaired.size).toBe(21);
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.filter((size) => size > 4 * 1024 * 1024)).toHaveLength(1);
  });

  it('has one limit for the rows of all tables', async () => {
    const name = 'x'.repeat(2_000);
    await write(insert('entries', 'e', { amount: 1n, note: name }));
    const watermark = await write(insert('accounts', 'x', { name }));
    const audits = new TableAudits(database.file, { answerBytes: 3_000, rangeBytes: 3_000 });
    const ask = (...tables: AuditedTable[]): Promise<AuditAnswer> =>
      audits.answer({ type: 'audit', cursor: watermark, tables });
    const first = await ask(entries(new Map()), accounts([], 64));
    expect(first.differing.map(({ tableId }) => tableId)).toEqual([ENTRIES.id]);
    const second = await ask(entries(rowsOf(first)), accounts([], 64));
    expect(second.differing.map(({ tableId }) => tableId)).toEqual([ACCOUNTS.id]);
    expect(await ask(entries(rowsOf(first)), accounts([['x', name]], 64))).toMatchObject({ differing: [] });
  });

  it('names a range that no row falls into if every range that differs is too large for a message', async () => {
    await write(insert('accounts', 'x', { name: 'x'.repeat(2_000) }));
    const watermark = await write(insert('entries', 'e', { amount: 1n, note: 'small' }));
    const audits = new TableAudits(database.file, { answerBytes: 1_000, rangeBytes: 1_000 });
    const ask = (...tables: AuditedTable[]): Promise<AuditAnswer> =>
      audits.answer({ type: 'audit', cursor: watermark, tables });
    const first = await ask(accounts([], 64), entries(new Map()));
    expect(first.differing.map(({ tableId }) => tableId)).toEqual([ENTRIES.id]);
    expect(await ask(accounts([], 64), entries(rowsOf(first)))).toMatchObject({
      compared: true,
      differing: [{ tableId: ACCOUNTS.id, ranges: [64] }],
      groups: [],
    });
  });

  it('is refused if it has a table twice, because each would read the whole table', async () => {
    const tables = [accounts([]), accounts([], 64)];
    await expect(new TableAudits(database.file).answer({ type: 'audit', cursor: 0, tables })).rejects.toMatchObject({
      code: 'frame-invalid',
    });
  });

  it('is refused for an unknown table', async () => {
    await expect(
      new TableAudits(database.file).answer({ type: 'audit', cursor: 0, tables: [{ tableId: 1, sums: [0, 0] }] }),
    ).rejects.toMatchObject({ code: 'schema-unknown-table' });
  });
});
