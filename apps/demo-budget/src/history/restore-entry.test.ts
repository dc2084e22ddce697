import type { SqlRow } from '@rockpool/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { addEntry, changeEntry, deleteEntries, setCleared } from '../entries/actions.ts';
import { latestDeletedEntries, type DeletedEntryRow } from '../queries/deleted-entries.ts';
import { restoreLimits } from '../queries/restore-limits.ts';
import { containing } from '../queries/text-pattern.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { addTransfer, changeTransfer } from '../transfers/actions.ts';
import type { Wording } from '../words/row-words.ts';
import type { EntryState } from './entry-state.ts';
import { bringBackStatements, restoreChoices, restoreStatements, type RestoredField } from './restore-entry.ts';

const wording: Wording = {
  locale: 'en',
  categoryNames: new Map([
    ['starter-groceries', 'Groceries'],
    ['starter-home', 'Home'],
  ]),
  accountNames: new Map(),
  currency: 'EUR',
};
const fields = { date: '2025-01-31', payee: 'Market', notes: '', categoryId: 'starter-groceries', amountMinor: -350 };
const noLimits = { isLocked: false, isBetweenCurrencies: false };

let writer: MemoryWriter;
let accountId: string;

beforeEach(async () => {
  writer = memoryWriter();
  await addStarterCategories(writer);
  accountId = await addAccount(writer, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 });
});

function stateOf(id: string): EntryState {
  return {
    entry: writer.rows<SqlRow>('SELECT * FROM entries WHERE id = ?', [id])[0] ?? null,
    parts: writer.rows<SqlRow>('SELECT * FROM parts WHERE entryId = ? ORDER BY id', [id]),
  };
}

function choicesOf(then: EntryState, now: EntryState, limits = noLimits): string[] {
  return restoreChoices(then, now, limits, 'EUR', wording).map(
    ({ label, older, now: current }) => `${label}: ${older}, now ${current}`,
  );
}

async function restore(then: EntryState, now: EntryState, ...chosen: readonly RestoredField[]): Promise<void> {
  await writer.batch(restoreStatements(then, now, new Set(chosen)));
}

describe('restoring values of an entry', () => {
  it('writes only the chosen fields', async () => {
    const id = await addEntry(writer, accountId, fields);
    const then = stateOf(id);
    await changeEntry(writer, id, { fields, parts: [] }, { ...fields, amountMinor: -400, payee: 'Kiosk' });
    await setCleared(writer, [id], true);
    const now = stateOf(id);
    expect(choicesOf(then, now)).toEqual([
      'Amount: -€3.50, now -€4.00',
      'Payee: Market, now Kiosk',
      'Status: not cleared, now cleared',
    ]);
    await restore(then, now, 'amountMinor', 'status');
    expect(stateOf(id).entry).toMatchObject({ amountMinor: -350, payee: 'Kiosk', status: 'open' });
  });

  it('restores or removes a split as a whole', async () => {
    const split = [
      { id: '', categoryId: 'starter-groceries', amountMinor: -150, notes: 'bread' },
      { id: '', categoryId: 'starter-home', amountMinor: -200, notes: '' },
    ];
    const id = await addEntry(writer, accountId, { ...fields, categoryId: null }, split);
    const divided = stateOf(id);
    await writer.execute('DELETE FROM parts WHERE id = ?', [`${id}/1`]);
    await writer.execute('UPDATE parts SET amountMinor = -1 WHERE id = ?', [`${id}/2`]);
    await writer.execute('UPDATE entries SET categoryId = ? WHERE id = ?', ['starter-home', id]);
    const now = stateOf(id);
    expect(choicesOf(divided, now)).toEqual(['Category: Groceries -€1.50 bread, Home -€2.00, now Home -€0.01']);
    await restore(divided, now, 'categoryId');
    expect(stateOf(id)).toEqual(divided);
    const whole = { entry: now.entry, parts: [] };
    await restore(whole, stateOf(id), 'categoryId');
    expect(stateOf(id)).toMatchObject({ entry: { categoryId: 'starter-home' }, parts: [] });
  });

  it('writes both sides of a transfer, but not the amounts of a transfer between currencies', async () => {
    const cash = await addAccount(writer, { name: 'Cash', kind: 'cash', currency: 'EUR', openingMinor: 0 });
    const transfer = { date: '2025-01-31', notes: 'cash', amountMinor: -500, otherMinor: 500, categoryId: null };
    const id = await addTransfer(writer, accountId, cash, transfer);
    const then = stateOf(id);
    await changeTransfer(writer, { id, transferId: String(then.entry?.['transferId']) }, transfer, {
      ...transfer,
      date: '2025-02-01',
      notes: '',
      amountMinor: -900,
      otherMinor: 900,
    });
    const now = stateOf(id);
    expect(choicesOf(then, now, { ...noLimits, isBetweenCurrencies: true })).not.toContainEqual(
      expect.stringContaining('Amount'),
    );
    expect(writer.rows(restoreLimits, [id])).toEqual([{ isLocked: 0, isBetweenCurrencies: 0 }]);
    await restore(then, now, 'date', 'notes', 'amountMinor');
    expect(writer.rows('SELECT date, notes, amountMinor FROM entries ORDER BY amountMinor')).toEqual([
      { date: '2025-01-31', notes: 'cash', amountMinor: -500 },
      { date: '2025-01-31', notes: 'cash', amountMinor: 500 },
    ]);
  });

  it('keeps the day and amount of a reconciled entry, and of an entry that later became a transfer', async () => {
    const id = await addEntry(writer, accountId, fields);
    const then = stateOf(id);
    const later = { ...then, entry: { ...then.entry, amountMinor: -1, date: '2025-03-03', payee: 'Kiosk' } };
    expect(choicesOf(then, later, { ...noLimits, isLocked: true })).toEqual(['Payee: Market, now Kiosk']);
    expect(choicesOf(then, { ...later, entry: { ...later.entry, transferId: 't' } })).toEqual([]);
    expect(choicesOf({ ...then, entry: null }, later)).toEqual([]);
    const reconciled = { ...then, entry: { ...then.entry, status: 'reconciled' } };
    expect([choicesOf(then, reconciled), choicesOf(reconciled, then)]).toEqual([[], []]);
  });
});

describe('deleted entries', () => {
  const list = (text = ''): readonly string[] =>
    writer.rows<DeletedEntryRow>(latestDeletedEntries, [containing(text), 10]).map(({ payee }) => payee);

  it('are listed once per delete, until they exist again', async () => {
    const id = await addEntry(writer, accountId, fields, [
      { id: '', categoryId: 'starter-home', amountMinor: -350, notes: '' },
    ]);
    await addEntry(writer, accountId, { ...fields, payee: 'Kept' });
    const before = stateOf(id);
    expect(await deleteEntries(writer, [id])).toBe(1);
    expect(list()).toEqual(['Market']);
    expect(list('mark')).toEqual(['Market']);
    expect(list('bakery')).toEqual([]);
    await writer.execute("UPDATE deletedEntries SET notes = 'ZUM ÖFFNEN'");
    expect(list('öff')).toEqual(['Market']);
    await writer.batch(bringBackStatements([before]));
    expect(stateOf(id)).toEqual(before);
    expect(list()).toEqual([]);
    expect(writer.rows('SELECT id FROM deletedEntries')).toEqual([]);
    await deleteEntries(writer, [id]);
    // Another device has restored the entry without changing this list.
    await writer.batch(bringBackStatements([before]).slice(0, 1));
    expect(list()).toEqual([]);
    await changeEntry(writer, id, { fields, parts: [] }, { ...fields, payee: 'Bakery' });
    await deleteEntries(writer, [id]);
    expect(list()).toEqual(['Bakery']);
  });

  it('do not include reconciled ones, which cannot be deleted', async () => {
    const id = await addEntry(writer, accountId, fields);
    await writer.execute("UPDATE entries SET status = 'reconciled'");
    expect(await deleteEntries(writer, [id])).toBe(0);
    expect(list()).toEqual([]);
    expect(writer.rows(restoreLimits, [id])).toEqual([{ isLocked: 1, isBetweenCurrencies: 0 }]);
  });
});
