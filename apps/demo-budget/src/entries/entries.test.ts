import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount, setAccountClosed } from '../accounts/actions.ts';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { accountsWithBalances, ledgerOfAccount, uncategorisedOfPayee, type AccountRow, type LedgerRow } from '../queries.ts';
import { memoryWriter, type MemoryWriter } from '../testing/memory-writer.ts';
import { addEntry, categorisePayee, changeEntry, deleteEntry, setCategory, undoDelete, type EntryFields } from './actions.ts';

let writer: MemoryWriter;
let accountId: string;

const coffee: EntryFields = { date: '2025-01-31', payee: 'Coffee', notes: '', categoryId: null, amountMinor: -350 };

beforeEach(async () => {
  writer = memoryWriter();
  await addStarterCategories(writer);
  accountId = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 10_000 });
});

function ledger(search = '', limit = 100): LedgerRow[] {
  return writer.rows<LedgerRow>(ledgerOfAccount, [accountId, search, search, limit]);
}

describe('the ledger', () => {
  it('runs from the opening balance in order of days, whatever the order of entering', async () => {
    await addEntry(writer, accountId, { ...coffee, date: '2025-02-02' });
    await addEntry(writer, accountId, { ...coffee, payee: 'Wages', date: '2025-02-01', amountMinor: 5_000 });
    expect(ledger().map((row) => [row.payee, row.balanceMinor])).toEqual([
      ['Coffee', 14_650],
      ['Wages', 15_000],
    ]);
    expect(writer.rows<AccountRow>(accountsWithBalances)).toMatchObject([{ balanceMinor: 14_650, entryCount: 2 }]);
  });

  it('finds by payee and notes, with balances that still count every entry', async () => {
    await addEntry(writer, accountId, coffee);
    await addEntry(writer, accountId, { ...coffee, date: '2025-02-01', payee: 'Books', notes: 'for COFFEE lovers', amountMinor: -1_000 });
    await addEntry(writer, accountId, { ...coffee, date: '2025-02-02', payee: 'Rent', amountMinor: -2_000 });
    expect(ledger('coffee').map((row) => [row.payee, row.balanceMinor])).toEqual([
      ['Books', 8_650],
      ['Coffee', 9_650],
    ]);
    expect(ledger('%')).toEqual([]);
    expect(ledger('', 1)).toMatchObject([{ payee: 'Rent', balanceMinor: 6_650 }]);
  });

  it('adds up past 2^53 exactly', async () => {
    await addEntry(writer, accountId, { ...coffee, amountMinor: Number.MAX_SAFE_INTEGER });
    await addEntry(writer, accountId, { ...coffee, amountMinor: Number.MAX_SAFE_INTEGER });
    expect(ledger()[0]?.balanceMinor).toBe(2n * BigInt(Number.MAX_SAFE_INTEGER) + 10_000n);
  });
});

describe('changing an entry', () => {
  it('writes the columns that differ and no other', async () => {
    const id = await addEntry(writer, accountId, coffee);
    await changeEntry(writer, id, coffee, { ...coffee, amountMinor: -360, notes: 'large' });
    expect(writer.written.at(-1)).toBe('UPDATE entries SET notes = ?, amountMinor = ? WHERE id = ?');
    expect(ledger()).toMatchObject([{ ...coffee, amountMinor: -360, notes: 'large' }]);
  });

  it('writes nothing where nothing differs', async () => {
    const id = await addEntry(writer, accountId, coffee);
    const before = writer.written.length;
    await changeEntry(writer, id, coffee, { ...coffee });
    expect(writer.written.length).toBe(before);
  });

  it('takes an entry away, and puts it back as it was', async () => {
    await addEntry(writer, accountId, coffee);
    const before = writer.rows('SELECT * FROM entries');
    const deleted = await deleteEntry(writer, ledger()[0]?.id ?? '');
    expect(ledger()).toEqual([]);
    if (deleted === undefined) throw new Error('nothing was deleted');
    await undoDelete(writer, deleted);
    await undoDelete(writer, deleted);
    expect(writer.rows('SELECT * FROM entries')).toEqual(before);
    await expect(deleteEntry(writer, 'gone')).resolves.toBeUndefined();
  });
});

describe('categories', () => {
  it('are given to the entries of a payee that have none, and to no others', async () => {
    const first = await addEntry(writer, accountId, coffee);
    await addEntry(writer, accountId, coffee);
    await addEntry(writer, accountId, { ...coffee, payee: 'Tea' });
    const leisure = await addEntry(writer, accountId, { ...coffee, categoryId: 'starter-leisure' });
    await setCategory(writer, first, 'starter-eating-out');
    expect(writer.rows(uncategorisedOfPayee, ['Coffee'])).toEqual([{ entryCount: 1 }]);
    await expect(categorisePayee(writer, 'Coffee', 'starter-eating-out')).resolves.toBe(1);
    expect(ledger().find((row) => row.id === leisure)?.categoryId).toBe('starter-leisure');
    expect(ledger().find((row) => row.payee === 'Tea')?.categoryId).toBeNull();
  });

  it('begin with a set that can be added twice', async () => {
    await addStarterCategories(writer);
    expect(writer.rows('SELECT count(*) AS n, count(DISTINCT id) AS d FROM categories')).toEqual([{ n: 10, d: 10 }]);
  });
});

describe('an account', () => {
  it('keeps its entries when it is closed', async () => {
    await addEntry(writer, accountId, coffee);
    await setAccountClosed(writer, accountId, true);
    expect(writer.rows<AccountRow>(accountsWithBalances)).toMatchObject([{ closed: 1, entryCount: 1 }]);
  });
});
