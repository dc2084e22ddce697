import type { SqlStatement } from '@rockpool/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount, setAccountClosed } from '../accounts/actions.ts';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import {
  ledgerIds,
  ledgerTotals,
  ledgerWindow,
  wholeLedger,
  type LedgerFilter,
  type LedgerRow,
} from '../queries/ledger.ts';
import { uncategorisedOfPayee } from '../queries/payees.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { addTransfer, changeTransfer } from '../transfers/actions.ts';
import {
  accountOf,
  addEntry,
  categorisePayee,
  categoryOf,
  changeEntry,
  deleteEntries,
  EntryGone,
  payeeOf,
  setCategory,
  setCleared,
  type EntryFields,
} from './actions.ts';
import { changeMany, type Progress } from './change-many.ts';
import { isSelected, selectedCount, selectedIds, selectedTotals, withEntry } from './selection.ts';

let writer: MemoryWriter;
let accountId: string;

const coffee: EntryFields = { date: '2025-01-31', payee: 'Coffee', notes: '', categoryId: null, amountMinor: -350 };

beforeEach(async () => {
  writer = memoryWriter();
  await addStarterCategories(writer);
  accountId = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 10_000 });
});

function ledger(filter: Partial<LedgerFilter> = {}, first = 0, count = 100): LedgerRow[] {
  const { sql, params } = ledgerWindow(accountId, { ...wholeLedger, ...filter }, first, count);
  return writer.rows<LedgerRow>(sql, params);
}

describe('the ledger', () => {
  it('runs from the opening balance by day, whatever the order in which entries were added', async () => {
    await addEntry(writer, accountId, { ...coffee, date: '2025-02-02' });
    await addEntry(writer, accountId, { ...coffee, payee: 'Wages', date: '2025-02-01', amountMinor: 5_000 });
    expect(ledger().map((row) => [row.payee, row.balanceMinor])).toEqual([
      ['Coffee', 14_650],
      ['Wages', 15_000],
    ]);
    expect(writer.rows<AccountRow>(accountsWithBalances)).toMatchObject([{ balanceMinor: 14_650, entryCount: 2 }]);
  });

  it('returns any window with the same balances as the whole ledger', async () => {
    for (let day = 1; day <= 9; day += 1)
      await addEntry(writer, accountId, { ...coffee, date: `2025-02-0${day}`, amountMinor: -day });
    const whole = ledger();
    expect(whole.map((row) => row.balanceMinor)).toEqual([
      9_955, 9_964, 9_972, 9_979, 9_985, 9_990, 9_994, 9_997, 9_999,
    ]);
    expect(ledger({}, 3, 4)).toEqual(whole.slice(3, 7));
    expect(ledger({}, 8, 4)).toEqual(whole.slice(8));
    expect(ledger({}, 9, 4)).toEqual([]);
  });

  it('finds entries by payee, notes and amount, without balances', async () => {
    await addEntry(writer, accountId, coffee);
    await addEntry(writer, accountId, {
      ...coffee,
      date: '2025-02-01',
      payee: 'Books',
      notes: 'for COFFEE lovers',
      amountMinor: -1_000,
    });
    await addEntry(writer, accountId, { ...coffee, date: '2025-02-02', payee: 'Rent', amountMinor: 1_000 });
    expect(ledger({ text: 'coffee' }).map((row) => [row.payee, row.balanceMinor])).toEqual([
      ['Books', null],
      ['Coffee', null],
    ]);
    expect(ledger({ text: '10.00', textMinor: 1_000 }).map((row) => row.payee)).toEqual(['Rent', 'Books']);
    expect(ledger({ text: '%' })).toEqual([]);
  });

  it('finds entries that contain every typed word by prefix, ignoring case, accents and punctuation', async () => {
    await addEntry(writer, accountId, { ...coffee, payee: 'Café Heron', notes: 'two cups' });
    await addEntry(writer, accountId, { ...coffee, payee: 'Heron Books' });
    const found = (text: string): string[] =>
      ledger({ text })
        .map((row) => row.payee)
        .toSorted();
    expect([found('heron'), found('HER cafe'), found('cup her'), found('eron'), found('heron rent')]).toEqual([
      ['Café Heron', 'Heron Books'],
      ['Café Heron'],
      ['Café Heron'],
      [],
      [],
    ]);
    expect(['"', '-', 'her"', 'heron)', '(', "heron' OR 1"].map((text) => found(text).length)).toEqual([
      0, 0, 2, 2, 0, 0,
    ]);
  });

  it('filters by category, status and days, and counts the matches', async () => {
    const first = await addEntry(writer, accountId, { ...coffee, date: '2025-02-01', categoryId: 'starter-leisure' });
    await addEntry(writer, accountId, { ...coffee, date: '2025-02-02' });
    const split = await addEntry(writer, accountId, { ...coffee, date: '2025-02-03' }, [
      { id: '', categoryId: 'starter-leisure', amountMinor: -350, notes: 'beans' },
    ]);
    const found = (filter: Partial<LedgerFilter>): string[] => ledger(filter).map((row) => row.date.slice(-2));
    await setCleared(writer, [first], true);
    expect([found({ categoryId: 'starter-leisure' }), found({ categoryId: 'none' }), found({ text: 'beans' })]).toEqual(
      [['03', '01'], ['02'], ['03']],
    );
    expect([found({ status: 'open' }), found({ status: 'cleared' }), found({ status: 'not-reconciled' })]).toEqual([
      ['03', '02'],
      ['01'],
      ['03', '02', '01'],
    ]);
    expect(found({ fromDate: '2025-02-02', toDate: '2025-02-02' })).toEqual(['02']);
    const totals = ledgerTotals(accountId, { ...wholeLedger, categoryId: 'starter-leisure' });
    expect(writer.rows(totals.sql, totals.params)).toEqual([{ entryCount: 2, totalMinor: -700 }]);
    const ids = ledgerIds(accountId, { ...wholeLedger, categoryId: 'starter-leisure' });
    expect(
      writer
        .rows<{ id: string }>(ids.sql, ids.params)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([first, split].toSorted());
  });

  it('does not list transfers as uncategorised, nor reconciled entries as not reconciled, and includes the limits', async () => {
    const savings = await addAccount(writer, { name: 'Savings', kind: 'savings', currency: 'EUR', openingMinor: 0 });
    await addTransfer(writer, accountId, savings, {
      date: '2025-02-01',
      notes: '',
      amountMinor: -500,
      otherMinor: 500,
      categoryId: null,
    });
    await addEntry(writer, accountId, { ...coffee, date: '2025-02-02' }, [], 'reconciled');
    const found = (filter: Partial<LedgerFilter>): string[] => ledger(filter).map((row) => row.date.slice(-2));
    expect([found({ categoryId: 'none' }), found({ atLeastMinor: 350, atMostMinor: 350 })]).toEqual([['02'], ['02']]);
    expect([found({ status: 'not-reconciled' }), found({ status: 'reconciled' })]).toEqual([['01'], ['02']]);
  });

  it('adds up exactly beyond 2^53', async () => {
    await addEntry(writer, accountId, { ...coffee, amountMinor: Number.MAX_SAFE_INTEGER });
    await addEntry(writer, accountId, { ...coffee, amountMinor: Number.MAX_SAFE_INTEGER });
    expect(ledger()[0]?.balanceMinor).toBe(2n * BigInt(Number.MAX_SAFE_INTEGER) + 10_000n);
  });
});

describe('editing an entry', () => {
  it('writes only the columns that differ', async () => {
    const id = await addEntry(writer, accountId, coffee);
    await changeEntry(writer, id, { fields: coffee, parts: [] }, { ...coffee, amountMinor: -360, notes: 'large' });
    expect(writer.written.at(-1)).toBe('UPDATE entries SET notes = ?, amountMinor = ? WHERE id = ?');
    expect(ledger()).toMatchObject([{ ...coffee, amountMinor: -360, notes: 'large' }]);
  });

  it('writes nothing if nothing differs', async () => {
    const id = await addEntry(writer, accountId, coffee);
    const before = writer.written.length;
    await changeEntry(writer, id, { fields: coffee, parts: [] }, { ...coffee });
    expect(writer.written.length).toBe(before);
  });
});

describe('editing an entry that another device has deleted', () => {
  it('is refused, so that the form keeps what was typed', async () => {
    const id = await addEntry(writer, accountId, coffee);
    const savings = await addAccount(writer, { name: 'Savings', kind: 'savings', currency: 'EUR', openingMinor: 0 });
    const transfer = { date: '2025-01-31', notes: '', amountMinor: -350, otherMinor: 350, categoryId: null };
    const sideId = await addTransfer(writer, accountId, savings, transfer);
    const transferId = ledger().find((row) => row.id === sideId)?.transferId ?? '';
    await deleteEntries(writer, [id, sideId]);
    const saves = [
      () => changeEntry(writer, id, { fields: coffee, parts: [] }, { ...coffee, notes: 'large' }),
      () => changeTransfer(writer, { id: sideId, transferId }, transfer, { ...transfer, notes: 'for the trip' }),
    ];
    for (const save of saves) await expect(save()).rejects.toThrow(EntryGone);
  });

  it('is refused even if only its parts were changed', async () => {
    const part = { categoryId: 'starter-leisure', amountMinor: -100, notes: '' };
    const id = await addEntry(writer, accountId, coffee, [{ ...part, id: '' }]);
    const parts = [{ ...part, id: `${id}/1`, entryId: id }];
    await deleteEntries(writer, [id]);
    for (const changed of [[], [{ ...part, id: `${id}/1`, amountMinor: -200 }], [...parts, { ...part, id: '' }]])
      await expect(changeEntry(writer, id, { fields: coffee, parts }, coffee, changed)).rejects.toThrow(EntryGone);
  });
});

describe('several entries at once', () => {
  it('are changed by one statement, which skips those that already have the value', async () => {
    const ids = [
      await addEntry(writer, accountId, coffee),
      await addEntry(writer, accountId, { ...coffee, payee: 'Tea' }),
    ];
    const before = writer.written.length;
    await expect(writer.execute(payeeOf(ids, 'Tea'))).resolves.toMatchObject({ changes: 1 });
    await expect(setCategory(writer, ids, 'starter-leisure')).resolves.toBe(2);
    await expect(setCleared(writer, ids, true)).resolves.toBe(2);
    expect(writer.written.length - before).toBe(3);
    expect(ledger()).toMatchObject(ids.map(() => ({ payee: 'Tea', categoryId: 'starter-leisure', status: 'cleared' })));
    await expect(deleteEntries(writer, ids)).resolves.toBe(2);
    await expect(deleteEntries(writer, ids)).resolves.toBe(0);
  });

  it('give no payee to a transfer, which is named after the other account', async () => {
    const savings = await addAccount(writer, { name: 'Savings', kind: 'savings', currency: 'EUR', openingMinor: 0 });
    const side = await addTransfer(writer, accountId, savings, {
      date: '2025-02-01',
      notes: '',
      amountMinor: -500,
      otherMinor: 500,
      categoryId: null,
    });
    await expect(writer.execute(payeeOf([side], 'Tea'))).resolves.toMatchObject({ changes: 0 });
  });
});

describe('categories', () => {
  it('can be assigned to a payee’s uncategorised entries, and only to those', async () => {
    const first = await addEntry(writer, accountId, coffee);
    await addEntry(writer, accountId, coffee);
    await addEntry(writer, accountId, { ...coffee, payee: 'Tea' });
    const leisure = await addEntry(writer, accountId, { ...coffee, categoryId: 'starter-leisure' });
    await addEntry(writer, accountId, coffee, [
      { id: '', categoryId: 'starter-leisure', amountMinor: -350, notes: '' },
    ]);
    const pension = await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 0 });
    const offBudget = await addEntry(writer, pension, coffee);
    await setCategory(writer, [first], 'starter-eating-out');
    expect(writer.rows(uncategorisedOfPayee, ['Coffee'])).toEqual([{ entryCount: 1 }]);
    await expect(categorisePayee(writer, 'Coffee', 'starter-eating-out')).resolves.toBe(1);
    expect(writer.rows('SELECT categoryId FROM entries WHERE id = ?', [offBudget])).toEqual([{ categoryId: null }]);
    expect(ledger().find((row) => row.id === leisure)?.categoryId).toBe('starter-leisure');
    expect(ledger().find((row) => row.payee === 'Tea')?.categoryId).toBeNull();
  });

  it('do not double if the starter set is added twice', async () => {
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

it('moves its entries to another account of the same currency, except transfers and reconciled ones', async () => {
  const savings = await addAccount(writer, { name: 'Savings', kind: 'savings', currency: 'EUR', openingMinor: 0 });
  const pension = await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 0 });
  const dollars = await addAccount(writer, { name: 'Dollars', kind: 'cash', currency: 'USD', openingMinor: 0 });
  const plain = await addEntry(writer, accountId, { ...coffee, categoryId: 'starter-home' });
  const checked = await addEntry(writer, accountId, coffee);
  await writer.execute("UPDATE entries SET status = 'reconciled' WHERE id = ?", [checked]);
  const transfer = await addTransfer(writer, accountId, savings, {
    date: '2025-01-31',
    notes: '',
    amountMinor: -500,
    otherMinor: 500,
    categoryId: null,
  });
  const ids = [plain, checked, transfer];
  await expect(writer.execute(accountOf(ids, dollars))).resolves.toMatchObject({ changes: 0 });
  await expect(writer.execute(accountOf(ids, savings))).resolves.toMatchObject({ changes: 1 });
  const assignment = (): object[] => writer.rows('SELECT accountId, categoryId FROM entries WHERE id = ?', [plain]);
  expect(assignment()).toEqual([{ accountId: savings, categoryId: 'starter-home' }]);
  await writer.execute(accountOf(ids, pension));
  expect(assignment()).toEqual([{ accountId: pension, categoryId: null }]);
  await expect(setCategory(writer, [plain], 'starter-home')).resolves.toBe(0);
  expect(writer.rows('SELECT count(*) AS count FROM entries WHERE accountId = ?', [accountId])).toEqual([{ count: 2 }]);
});

describe('a selection', () => {
  const forty = async (): Promise<void> => {
    for (let day = 1; day <= 40; day += 1) await addEntry(writer, accountId, { ...coffee, amountMinor: -day });
  };
  const changed = (): number =>
    writer.rows<{ n: number }>("SELECT count(*) AS n FROM entries WHERE categoryId = 'starter-leisure'")[0]?.n ?? -1;
  const change = (ids: readonly string[]): SqlStatement => categoryOf(ids, 'starter-leisure');
  const all = { kind: 'all', accountId: null, filter: wholeLedger, except: new Set<string>() } as const;

  it('of all entries excludes entries that are added later', async () => {
    await forty();
    const [first] = ledger();
    const selection = withEntry(all, first?.id ?? '');
    await addEntry(writer, accountId, coffee);
    expect(isSelected(selection, first?.id ?? '')).toBe(false);
    expect(selectedCount(selection, 41)).toBe(40);
    expect(writer.rows(selectedTotals(selection).sql, selectedTotals(selection).params)).toMatchObject([
      { currency: 'EUR', entryCount: 40, totalMinor: -820 - 350 - (first?.amountMinor ?? 0) },
    ]);
    const progress: Progress[] = [];
    const work = { onProgress: (at: Progress) => void progress.push(at), signal: new AbortController().signal };
    await expect(changeMany(writer, selectedIds(selection), change, work)).resolves.toBe(40);
    expect(changed()).toBe(40);
    expect(progress.at(-1)).toEqual({ doneCount: 40, totalCount: 40 });
  });

  it('is changed as a whole, whatever its size', async () => {
    await writer.execute(
      `WITH RECURSIVE entry (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM entry WHERE number < 4001)
       INSERT INTO entries (id, accountId, date, amountMinor, enteredAtMs) SELECT 'e' || number, ?, '2025-01-31', -number, number FROM entry`,
      [accountId],
    );
    const progress: Progress[] = [];
    const work = { onProgress: (at: Progress) => void progress.push(at), signal: new AbortController().signal };
    await expect(changeMany(writer, selectedIds(all), change, work)).resolves.toBe(4_001);
    expect(changed()).toBe(4_001);
    expect(progress.map(({ doneCount }) => doneCount)).toEqual([0, 2_000, 4_000, 4_001]);
  });

  it('leaves its entries unchanged if its work is stopped', async () => {
    await forty();
    const stop = new AbortController();
    const work = { onProgress: () => stop.abort(), signal: stop.signal };
    await expect(changeMany(writer, selectedIds(all), change, work)).rejects.toThrow('aborted');
    expect(changed()).toBe(0);
  });
});

describe('the register of all accounts', () => {
  it('has the entries of every account by day, with their accounts, and is searched and filtered as one', async () => {
    const savings = await addAccount(writer, { name: 'Savings', kind: 'savings', currency: 'EUR', openingMinor: 0 });
    await addEntry(writer, accountId, coffee);
    await addEntry(writer, savings, { ...coffee, payee: 'Interest', date: '2025-02-01', amountMinor: 120 });
    await addTransfer(writer, accountId, savings, {
      date: '2025-02-02',
      notes: '',
      amountMinor: -500,
      otherMinor: 500,
      categoryId: null,
    });
    const register = (filter: Partial<LedgerFilter> = {}): [string, number][] => {
      const { sql, params } = ledgerWindow(null, { ...wholeLedger, ...filter }, 0, 10);
      return writer.rows<LedgerRow>(sql, params).map((row) => [row.accountName, row.amountMinor]);
    };
    expect(register().slice(2)).toEqual([
      ['Savings', 120],
      ['Checking', -350],
    ]);
    expect(
      register()
        .slice(0, 2)
        .sort(([, a], [, b]) => a - b),
    ).toEqual([
      ['Checking', -500],
      ['Savings', 500],
    ]);
    expect(register({ text: 'interest' })).toEqual([['Savings', 120]]);
    expect(register({ text: 'savings' })).toEqual([['Checking', -500]]);
    await writer.execute("UPDATE accounts SET name = 'RÜCKLAGEN' WHERE id = ?", [savings]);
    expect(register({ text: 'ücklag' })).toEqual([['Checking', -500]]);
    expect(register({ payee: 'Coffee' })).toEqual([['Checking', -350]]);
    expect(register({ atLeastMinor: 200, atMostMinor: 400 })).toEqual([['Checking', -350]]);
    const totals = ledgerTotals(null, { ...wholeLedger, text: '1.20', textMinor: 120 });
    expect(writer.rows(totals.sql, totals.params)).toEqual([{ entryCount: 1, totalMinor: 120 }]);
  });
});
