import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory } from '../categories/actions.ts';
import { addEntry, changeEntry, deleteEntries, EntryGone, setCategory, unlock } from '../entries/actions.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { activityByMonth } from '../queries/envelopes.ts';
import { entryLineCount, exportedLines } from '../queries/export.ts';
import { ledgerWindow, wholeLedger, type LedgerRow } from '../queries/ledger.ts';
import { spendingByMonth } from '../queries/reports.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import type { FormResult } from '../entries/entry-draft.ts';
import { saveChanged, saveNew } from '../entries/save.ts';
import { addTransfer, changeTransfer, makeTransfer, type TransferFields } from './actions.ts';
import { sideWithCategory } from './side-with-category.ts';
import { transferProblem } from './transfer-problem.ts';

let writer: MemoryWriter;
let checking: string;
let cash: string;
let pension: string;
let saving: string;

const withdrawal: TransferFields = {
  date: '2025-03-01',
  notes: 'at the corner',
  amountMinor: -5_000,
  otherMinor: 5_000,
  categoryId: null,
};

beforeEach(async () => {
  writer = memoryWriter();
  saving = await addCategory(writer, 'Saving', 'spending');
  checking = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 10_000 });
  cash = await addAccount(writer, { name: 'Cash', kind: 'cash', currency: 'EUR', openingMinor: 0 });
  pension = await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 0 });
});

const balances = (): unknown[] => writer.rows<AccountRow>(accountsWithBalances).map((account) => account.balanceMinor);
function rowsOf(accountId: string): LedgerRow[] {
  const { sql, params } = ledgerWindow(accountId, wholeLedger, 0, 10);
  return writer.rows<LedgerRow>(sql, params);
}

describe('a transfer', () => {
  it('moves money without spending', async () => {
    await addTransfer(writer, checking, cash, withdrawal);
    expect(balances()).toEqual([5_000, 5_000, 0]);
    expect(rowsOf(cash)).toMatchObject([
      { otherAccountName: 'Checking', otherMinor: -5_000, amountMinor: 5_000, notes: 'at the corner' },
    ]);
    expect(writer.rows(spendingByMonth, ['EUR', '2025-03-01', '2025-03-31'])).toEqual([]);
    expect(writer.rows(activityByMonth, ['EUR', '2025-03'])).toEqual([
      { month: '2025-03', categoryId: null, changeMinor: 0 },
    ]);
  });

  it('is updated on both sides, whichever side is edited', async () => {
    await addTransfer(writer, checking, cash, withdrawal);
    const [side] = rowsOf(cash);
    if (side === undefined || side.transferId === null || side.otherMinor === null) throw new Error('no transfer');
    const before = { ...side, otherMinor: side.otherMinor };
    await changeTransfer(writer, { id: side.id, transferId: side.transferId }, before, {
      ...before,
      date: '2025-03-02',
      amountMinor: 6_000,
      otherMinor: -6_000,
    });
    expect(rowsOf(checking)).toMatchObject([{ date: '2025-03-02', amountMinor: -6_000 }]);
    expect(rowsOf(cash)).toMatchObject([{ date: '2025-03-02', amountMinor: 6_000 }]);
    const written = writer.written.length;
    await changeTransfer(writer, { id: side.id, transferId: side.transferId }, before, before);
    expect(writer.written.length).toBe(written);
  });

  it('joins two entries from two statements, whatever date each bank states', async () => {
    const fields = { notes: '', categoryId: null };
    const out = await addEntry(writer, checking, {
      ...fields,
      date: '2025-03-01',
      payee: 'ATM',
      amountMinor: -5_000,
      categoryId: saving,
    });
    await addEntry(writer, cash, { ...fields, date: '2025-02-20', payee: 'too long ago', amountMinor: 5_000 });
    await addEntry(writer, cash, { ...fields, date: '2025-03-06', payee: 'not so near', amountMinor: 5_000 });
    const deposit = { ...fields, date: '2025-03-03', payee: 'DEPOSIT', amountMinor: 5_000 };
    const near = await addEntry(writer, cash, { ...deposit, categoryId: saving });
    const opened = { id: out, date: '2025-03-01', notes: '' };
    await expect(makeTransfer(writer, opened, cash, { ...withdrawal, categoryId: saving }, 'none')).resolves.toBe(true);
    expect(rowsOf(checking)).toMatchObject([
      { id: out, date: '2025-03-01', categoryId: null, otherAccountName: 'Cash' },
    ]);
    expect(rowsOf(cash).find(({ id }) => id === near)).toMatchObject({
      date: '2025-03-03',
      categoryId: null,
      otherAccountName: 'Checking',
    });
    expect(rowsOf(cash).filter(({ transferId }) => transferId === null)).toHaveLength(2);
    expect(balances()).toEqual([5_000, 15_000, 0]);
  });

  it('is made from one entry if the other account has no match, with its category if the other account is off budget', async () => {
    const paid = await addEntry(writer, checking, {
      date: '2025-03-01',
      payee: 'Pension fund',
      notes: 'March',
      categoryId: saving,
      amountMinor: -3_000,
    });
    await expect(
      makeTransfer(
        writer,
        { id: paid, date: '2025-03-01', notes: 'March' },
        pension,
        { date: '2025-03-01', notes: 'March', amountMinor: -3_000, otherMinor: 3_000, categoryId: saving },
        'this',
      ),
    ).resolves.toBe(false);
    expect(rowsOf(checking)).toMatchObject([{ categoryId: saving, otherAccountName: 'Pension' }]);
    expect(rowsOf(pension)).toMatchObject([
      { amountMinor: 3_000, notes: 'March', categoryId: null, otherAccountName: 'Checking' },
    ]);
    expect(balances()).toEqual([7_000, 0, 3_000]);
  });

  it('has no parts, which would count as spending', async () => {
    const parts = [
      { id: '', categoryId: saving, amountMinor: -2_000, notes: '' },
      { id: '', categoryId: null, amountMinor: -3_000, notes: '' },
    ];
    const fields = { date: '2025-03-01', payee: 'ATM', notes: '', categoryId: null, amountMinor: -5_000 };
    const spent = (): unknown[] => writer.rows(spendingByMonth, ['EUR', '2025-03-01', '2025-03-31']);
    const id = await addEntry(writer, checking, fields, parts);
    expect(spent()).not.toEqual([]);
    await makeTransfer(writer, { ...fields, id }, cash, withdrawal, 'none');
    expect(writer.rows('SELECT id FROM parts')).toEqual([]);
    expect(spent()).toEqual([]);

    // Another device split the entry meanwhile.
    await changeEntry(writer, id, { fields, parts: [] }, fields, parts);
    expect(spent()).toEqual([]);
    expect(rowsOf(checking)).toMatchObject([{ partCount: 0, dividedMinor: null }]);
    expect(writer.rows(exportedLines, [checking])).toMatchObject([{ amountMinor: -5_000, categoryName: null }]);
    expect(writer.rows(entryLineCount, [checking])).toEqual([{ count: 1 }]);
    const ofSaving = ledgerWindow(checking, { ...wholeLedger, categoryId: saving }, 0, 10);
    expect(writer.rows(ofSaving.sql, ofSaving.params)).toEqual([]);
    const transferId = rowsOf(checking)[0]?.transferId ?? '';
    await changeTransfer(writer, { id, transferId }, withdrawal, { ...withdrawal, notes: 'at the bank' });
    expect(writer.rows('SELECT id FROM parts')).toEqual([]);
  });

  it('does not join a split entry, whose parts would be lost', async () => {
    const fields = { date: '2025-03-01', payee: 'ATM', notes: '', categoryId: null, amountMinor: -5_000 };
    const parts = [{ id: '', categoryId: saving, amountMinor: 5_000, notes: '' }];
    const split = await addEntry(writer, cash, { ...fields, amountMinor: 5_000 }, parts);
    const id = await addEntry(writer, checking, fields);
    await expect(makeTransfer(writer, { ...fields, id }, cash, withdrawal, 'none')).resolves.toBe(false);
    expect(rowsOf(cash).find((row) => row.id === split)).toMatchObject({ transferId: null, partCount: 1 });
  });

  it('keeps the day and memo that somebody else gave the entry since its form was opened', async () => {
    const fields = { date: '2025-03-01', payee: 'ATM', notes: '', categoryId: null, amountMinor: -5_000 };
    const id = await addEntry(writer, checking, fields);
    await changeEntry(writer, id, { fields, parts: [] }, { ...fields, date: '2025-03-02', notes: 'for the trip' });
    await makeTransfer(writer, { ...fields, id }, cash, { ...withdrawal, notes: '' }, 'none');
    const sides = [...rowsOf(checking), ...rowsOf(cash)];
    expect(sides).toMatchObject([{ id }, { otherAccountName: 'Checking' }]);
    expect(sides.map(({ date, notes }) => [date, notes])).toEqual([
      ['2025-03-02', 'for the trip'],
      ['2025-03-02', 'for the trip'],
    ]);
  });

  it('is not made of an entry that was deleted, or became a transfer, since its form was opened', async () => {
    const fields = { date: '2025-03-01', payee: 'ATM', notes: '', categoryId: null, amountMinor: -5_000 };
    const id = await addEntry(writer, checking, fields);
    await makeTransfer(writer, { ...fields, id }, cash, withdrawal, 'none');
    const made = writer.rows('SELECT * FROM entries');
    const toPension = makeTransfer(writer, { ...fields, id }, pension, withdrawal, 'this');
    await expect(toPension).rejects.toThrow(EntryGone);
    expect(writer.rows('SELECT * FROM entries')).toEqual(made);
    await deleteEntries(writer, [id]);
    const deposit = await addEntry(writer, cash, { ...fields, amountMinor: 5_000 });
    const toCash = makeTransfer(writer, { ...fields, id }, cash, withdrawal, 'none');
    await expect(toCash).rejects.toThrow(EntryGone);
    expect(writer.rows('SELECT id, transferId FROM entries')).toEqual([{ id: deposit, transferId: null }]);
  });

  it('gets the same ids on every device that creates it from the same entry', async () => {
    const fields = { date: '2025-03-01', payee: 'ATM', notes: '', categoryId: null, amountMinor: -5_000 };
    const id = await addEntry(writer, checking, fields);
    const made = async (): Promise<unknown[]> => {
      await makeTransfer(writer, { ...fields, id }, cash, withdrawal, 'none');
      return writer.rows('SELECT id, transferId FROM entries WHERE transferId IS NOT NULL ORDER BY id');
    };
    const alone = await made();
    // Restores the state of the other device, which has only the first entry.
    await writer.execute('DELETE FROM entries WHERE accountId = ?', [cash]);
    await writer.execute('UPDATE entries SET transferId = NULL');
    expect(await made()).toEqual(alone);
    expect(alone).toHaveLength(2);

    await writer.execute('UPDATE entries SET transferId = NULL');
    const joined = await made();
    await writer.execute('UPDATE entries SET transferId = NULL');
    const [other] = rowsOf(cash);
    if (other === undefined) throw new Error('no other side');
    const back = { ...withdrawal, amountMinor: 5_000, otherMinor: -5_000 };
    await makeTransfer(writer, { ...fields, id: other.id }, checking, back, 'none');
    expect(writer.rows('SELECT id, transferId FROM entries ORDER BY id')).toEqual(joined);
  });

  it('that lost its other side becomes an ordinary entry, or a transfer again, when it is saved', async () => {
    const lost = async (): Promise<LedgerRow> => {
      await writer.execute('DELETE FROM entries');
      await addTransfer(writer, checking, cash, withdrawal);
      await writer.execute('DELETE FROM entries WHERE accountId = ?', [cash]);
      const [side] = rowsOf(checking);
      if (side === undefined) throw new Error('no side');
      expect(transferProblem(side)).toBe('no-other-side');
      return side;
    };
    const account = (): AccountRow => writer.rows<AccountRow>(accountsWithBalances)[0] as AccountRow;
    const save = async (entry: LedgerRow, result: FormResult): Promise<void> =>
      await saveChanged(writer, account(), { entry, parts: [] }, result);
    const entry = await lost();
    await writer.execute("INSERT INTO parts (id, entryId, amountMinor) VALUES ('p', ?, -100)", [entry.id]);
    const fields = { ...entry, categoryId: saving };
    await save(entry, { kind: 'entry', fields, parts: [], categoryIsOpen: false });
    expect(rowsOf(checking)).toMatchObject([{ transferId: null, categoryId: saving, partCount: 0 }]);

    const side = await lost();
    const otherAccount = writer.rows<AccountRow>(accountsWithBalances)[1] as AccountRow;
    await save(side, { kind: 'transfer', otherAccount, fields: withdrawal });
    expect(rowsOf(checking).map(transferProblem)).toEqual([null]);
    expect(balances()).toEqual([5_000, 5_000, 0]);
  });

  it('has a problem if its sides differ, or both go in one direction between currencies', () => {
    const side = { transferId: 't', currency: 'EUR', amountMinor: -5_000 };
    const problemOf = (otherCurrency: string | null, otherMinor: number | null): unknown =>
      transferProblem({ ...side, otherCurrency, otherMinor });
    expect([problemOf('EUR', 5_000), problemOf('EUR', 4_000), problemOf(null, null)]).toEqual([
      null,
      'sides-differ',
      'no-other-side',
    ]);
    expect([problemOf('USD', 5_500), problemOf('USD', -5_500)]).toEqual([null, 'sides-differ']);
    expect(transferProblem({ ...side, transferId: null, otherCurrency: null, otherMinor: null })).toBeNull();
  });

  it('is deleted on both sides, unless one of them is reconciled', async () => {
    const id = await addTransfer(writer, checking, cash, withdrawal);
    await writer.execute("UPDATE entries SET status = 'reconciled' WHERE id <> ?", [id]);
    await expect(deleteEntries(writer, [id])).resolves.toBe(0);
    expect([rowsOf(checking)[0]?.locked, rowsOf(cash)[0]?.locked]).toEqual([1, 1]);
    await unlock(writer, id);
    expect([rowsOf(checking)[0]?.status, rowsOf(cash)[0]?.status]).toEqual(['open', 'cleared']);
    await expect(deleteEntries(writer, [id])).resolves.toBe(2);
    expect(balances()).toEqual([10_000, 0, 0]);
  });

  it('has a category on the on-budget side if the other account is off budget', async () => {
    await addTransfer(writer, checking, pension, { ...withdrawal, categoryId: saving });
    await addTransfer(
      writer,
      pension,
      checking,
      { ...withdrawal, amountMinor: 1_000, otherMinor: -1_000, categoryId: saving },
      'other',
    );
    const otherAccount = writer.rows<AccountRow>(accountsWithBalances).find(({ id }) => id === checking) as AccountRow;
    const fields = { ...withdrawal, amountMinor: 200, otherMinor: -200, categoryId: saving };
    await saveNew(writer, { id: pension, kind: 'off-budget' }, { kind: 'transfer', otherAccount, fields });
    expect(rowsOf(pension).map((row) => row.categoryId)).toEqual([null, null, null]);
    expect(writer.rows(spendingByMonth, ['EUR', '2025-03-01', '2025-03-31'])).toEqual([
      { month: '2025-03', categoryId: saving, spentMinor: 6_200 },
    ]);
  });

  it('takes a category from a bulk change only if it can have one', async () => {
    const within = await addTransfer(writer, checking, cash, withdrawal);
    const out = await addTransfer(writer, checking, pension, { ...withdrawal, categoryId: saving });
    await expect(setCategory(writer, [within, out], null)).resolves.toBe(1);
  });
});

it('the side with a category is the one in the budget', () => {
  expect([
    sideWithCategory('checking', 'cash'),
    sideWithCategory('checking', 'off-budget'),
    sideWithCategory('off-budget', 'credit'),
    sideWithCategory('off-budget', 'off-budget'),
  ]).toEqual(['none', 'this', 'other', 'none']);
});
