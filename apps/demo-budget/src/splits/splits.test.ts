import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory } from '../categories/actions.ts';
import { addEntry, changeEntry, deleteEntries, setCategory, type EntryFields } from '../entries/actions.ts';
import { activityByMonth, type ActivityRow } from '../queries/envelopes.ts';
import { ledgerWindow, partsOfEntry, wholeLedger, type LedgerRow, type PartRow } from '../queries/ledger.ts';
import { spendingByMonth, type SpendingRow } from '../queries/reports.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { draftsOf, partsOf, remainder } from './part-draft.ts';
import type { PartFields } from './part-changes.ts';

let writer: MemoryWriter;
let accountId: string;
let food: string;
let home: string;

const receipt: EntryFields = { date: '2025-03-01', payee: 'Market', notes: '', categoryId: null, amountMinor: -10_000 };
const part = (categoryId: string | null, amountMinor: number, id = ''): PartFields => ({
  id,
  categoryId,
  amountMinor,
  notes: '',
});

beforeEach(async () => {
  writer = memoryWriter();
  food = await addCategory(writer, 'Food', 'spending');
  home = await addCategory(writer, 'Home', 'spending');
  accountId = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 0 });
});

const partsIn = (entryId: string): PartRow[] => writer.rows<PartRow>(partsOfEntry, [entryId]);
const spent = (): Record<string, unknown> =>
  Object.fromEntries(
    writer
      .rows<SpendingRow>(spendingByMonth, ['EUR', '2025-03-01', '2025-03-31'])
      .map((row) => [row.categoryId ?? 'none', row.spentMinor]),
  );

describe('a split entry', () => {
  it('counts in the categories of its parts', async () => {
    await addEntry(writer, accountId, receipt, [part(food, -6_000), part(home, -4_000)]);
    expect(spent()).toEqual({ [food]: 6_000, [home]: 4_000 });
  });

  it('leaves its remainder uncategorised until a user resolves it', async () => {
    const id = await addEntry(writer, accountId, receipt, [part(food, -6_000), part(home, -4_000)]);
    await writer.execute('UPDATE entries SET amountMinor = -10500 WHERE id = ?', [id]);
    expect(spent()).toEqual({ [food]: 6_000, [home]: 4_000, none: 500 });
    const { sql, params } = ledgerWindow(accountId, wholeLedger, 0, 10);
    expect(writer.rows<LedgerRow>(sql, params)).toMatchObject([
      { amountMinor: -10_500, partCount: 2, dividedMinor: -10_000 },
    ]);
  });

  it('updates only the parts that differ', async () => {
    const id = await addEntry(writer, accountId, receipt, [part(food, -6_000), part(home, -4_000)]);
    const before = partsIn(id);
    const count = writer.written.length;
    await changeEntry(writer, id, { fields: receipt, parts: before }, receipt, [
      part(food, -7_000, `${id}/1`),
      part(null, -3_000),
    ]);
    expect(writer.written.slice(count)).toEqual([
      'DELETE FROM parts WHERE id = ?',
      'UPDATE parts SET amountMinor = ? WHERE id = ?',
      expect.stringContaining('INSERT INTO parts'),
    ]);
    expect(partsIn(id).map(({ id: partId, categoryId, amountMinor }) => [partId, categoryId, amountMinor])).toEqual([
      [`${id}/1`, food, -7_000],
      [`${id}/3`, null, -3_000],
    ]);
  });

  it('has the same part ids on two devices', async () => {
    const id = await addEntry(writer, accountId, receipt);
    await changeEntry(writer, id, { fields: receipt, parts: [] }, receipt, [part(food, -1), part(home, -9_999)]);
    expect(partsIn(id).map((row) => row.id)).toEqual([`${id}/1`, `${id}/2`]);
  });

  it('can be saved even if somebody else has split it since its form was opened', async () => {
    const id = await addEntry(writer, accountId, receipt);
    const opened = { fields: receipt, parts: [] };
    await changeEntry(writer, id, opened, receipt, [part(food, -10_000)]);
    await changeEntry(writer, id, opened, receipt, [part(home, -6_000), part(food, -4_000)]);
    expect(spent()).toEqual({ [home]: 6_000, [food]: 4_000 });
  });

  it('keeps the categories of its parts in a bulk change, and is deleted with its parts', async () => {
    const id = await addEntry(writer, accountId, receipt, [part(food, -10_000)]);
    await expect(setCategory(writer, [id], home)).resolves.toBe(0);
    await deleteEntries(writer, [id]);
    expect(writer.rows('SELECT id FROM parts')).toEqual([]);
  });
});

it('category changes add up to account changes, whatever the parts', async () => {
  const amount = fc.integer({ min: -1_000_000, max: 1_000_000 });
  const entries = fc.array(
    fc.record({
      amountMinor: amount,
      own: fc.boolean(),
      parts: fc.array(fc.record({ amountMinor: amount, categorised: fc.boolean() }), { maxLength: 3 }),
    }),
    { maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(entries, async (given) => {
      await writer.execute('DELETE FROM entries');
      for (const { amountMinor, own, parts } of given)
        await addEntry(
          writer,
          accountId,
          { ...receipt, amountMinor, categoryId: own ? food : null },
          parts.map((one) => part(one.categorised ? home : null, one.amountMinor)),
        );
      const moved = writer
        .rows<ActivityRow>(activityByMonth, ['EUR', '2025-03'])
        .reduce((sum, row) => sum + Number(row.changeMinor), 0);
      expect(moved).toBe(given.reduce((sum, entry) => sum + entry.amountMinor, 0));
    }),
    { numRuns: 40 },
  );
});

describe('parts being edited', () => {
  it('have the direction of the entry, and a minus reverses it', () => {
    const drafts = draftsOf(
      [
        { id: 'e/1', categoryId: 'food', amountMinor: -4_250, notes: '' },
        { id: 'e/2', categoryId: null, amountMinor: 250, notes: 'deposit' },
      ],
      -1,
      'EUR',
      'comma',
    );
    expect(drafts.map((draft) => draft.amount)).toEqual(['42,50', '-2,50']);
    expect(partsOf(drafts, -1, 'EUR', 'comma')?.map((one) => one.amountMinor)).toEqual([-4_250, 250]);
    expect(remainder(-4_000, partsOf(drafts, -1, 'EUR', 'comma') ?? [])).toBe(0n);
  });

  it('are zero while empty, and undefined while unreadable', () => {
    const draft = { key: '1', id: '', categoryId: null, amount: '', notes: '' };
    expect(partsOf([draft], -1, 'JPY', 'point')).toMatchObject([{ amountMinor: 0 }]);
    expect(partsOf([{ ...draft, amount: '1.5' }], -1, 'JPY', 'point')).toBeUndefined();
    expect(partsOf([{ ...draft, amount: '1.255' }], -1, 'KWD', 'point')).toMatchObject([{ amountMinor: -1_255 }]);
  });
});
