import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory } from '../categories/actions.ts';
import { addEntry } from '../entries/actions.ts';
import { setGoal } from '../goals/actions.ts';
import { latestConflicts, type ConflictRow } from '../queries/conflicts.ts';
import { beginNote, budgetNoteId, entryNoteId } from '../notes/actions.ts';
import { addRule } from '../rules/actions.ts';
import { addSchedule } from '../schedules/actions.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { addTransfer } from '../transfers/actions.ts';
import { dismissConflict, restoreLost } from './actions.ts';
import { conflictsOf, isRestorable } from './conflicts.ts';

let writer: MemoryWriter;
let purse: string;
const account = { kind: 'cash', currency: 'EUR', openingMinor: 0 } as const;

beforeEach(async () => {
  writer = memoryWriter();
  // The columns that this app reads; Rockpool creates the full table.
  await writer.execute(
    `CREATE TABLE rockpool_conflict (id, table_name, row_key, column_name, lost_value, won_value, lost_by DEFAULT 'device-1', won_by DEFAULT 'device-2', lost_at_ms DEFAULT 1, won_at_ms DEFAULT 2,
                                     watermark DEFAULT 1, rule DEFAULT 'lww')`,
  );
  purse = await addAccount(writer, { ...account, name: 'Purse' });
});

async function addLoss(
  id: string,
  tableName: string,
  rowId: string,
  columnName: string | null,
  lost: string | number | null,
  won: string | number | null,
): Promise<void> {
  await writer.execute(
    'INSERT INTO rockpool_conflict (id, table_name, row_key, column_name, lost_value, won_value) VALUES (?, ?, json_array(?), ?, ?, ?)',
    [id, tableName, rowId, columnName, lost, won],
  );
}

const conflicts = (): ConflictRow[] => writer.rows<ConflictRow>(latestConflicts);

describe('the latest conflicts', () => {
  it('include the current row, newest first, from any table', async () => {
    const food = await addCategory(writer, 'Food', 'spending');
    const entryId = await addEntry(writer, purse, {
      date: '2025-01-31',
      payee: 'Coffee',
      notes: '',
      categoryId: null,
      amountMinor: -421,
    });
    await setGoal(writer, { categoryId: food, currency: 'EUR', kind: 'monthly', amountMinor: 40_000, byMonth: null });
    const ruleId = await addRule(writer, {
      needs: 'all',
      conditions: [{ field: 'payee', test: 'contains', value: 'market' }],
      categoryId: food,
      payee: null,
      notes: null,
      status: null,
      split: [],
    });
    const rent = {
      accountId: purse,
      otherAccountId: null,
      payee: 'Landlord',
      notes: '',
      categoryId: null,
      amountMinor: -60_000,
      firstDate: '2025-01-01',
      every: 1,
      unit: 'month',
      lastDate: null,
    } as const;
    const scheduleId = await addSchedule(writer, rent);
    await addLoss('1', 'accounts', purse, 'name', 'Wallet', 'Purse');
    await addLoss('2', 'entries', entryId, 'amountMinor', -419, -421);
    await addLoss('3', 'entries', entryId, 'status', 'cleared', 'open');
    await addLoss('4', 'goals', `${food}/EUR`, 'amountMinor', 30_000, 40_000);
    await addLoss('5', 'rules', ruleId, 'value', 'shop', 'market');
    await addLoss('6', 'schedules', scheduleId, 'amountMinor', -55_000, -60_000);
    await addLoss('7', 'entries', 'gone', 'notes', 'x', null);
    // A column that no user edits.
    await addLoss('8', 'entries', entryId, 'enteredAtMs', 1, 2);

    expect(conflicts().map(({ id, rowName, rowDate, currency }) => [id, rowName, rowDate, currency])).toEqual([
      ['7', null, null, null],
      ['6', 'Scheduled: Landlord', null, 'EUR'],
      ['5', 'Rule “market”', null, null],
      ['4', 'Goal for Food', null, 'EUR'],
      ['3', 'Coffee', '2025-01-31', 'EUR'],
      ['2', 'Coffee', '2025-01-31', 'EUR'],
      ['1', 'Purse', null, 'EUR'],
    ]);
    expect(conflictsOf(conflicts()).map((conflict) => isRestorable(conflict))).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
      true,
    ]);
  });

  it('name the subject of a note; an unknown value cannot be restored', async () => {
    const dentist = await addEntry(writer, purse, {
      date: '2025-01-31',
      payee: 'Dentist',
      notes: '',
      categoryId: null,
      amountMinor: -421,
    });
    await beginNote(writer, budgetNoteId);
    await beginNote(writer, entryNoteId(dentist));
    await addLoss('1', 'notes', budgetNoteId, 'content', 'rent', 'bills');
    await addLoss('2', 'notes', entryNoteId(dentist), 'content', null, null);
    expect(conflicts().map(({ rowName, rowDate }) => [rowName, rowDate])).toEqual([
      ['Note on Dentist', '2025-01-31'],
      ['Notes of the budget', null],
    ]);
    expect(conflictsOf(conflicts()).map((conflict) => isRestorable(conflict))).toEqual([false, true]);
  });

  it('are dismissed with all columns of their group', async () => {
    const food = await addCategory(writer, 'Food', 'spending');
    await setGoal(writer, { categoryId: food, currency: 'EUR', kind: 'monthly', amountMinor: 40_000, byMonth: null });
    await addLoss('1', 'goals', `${food}/EUR`, 'kind', 'by-month', 'monthly');
    await addLoss('2', 'goals', `${food}/EUR`, 'amountMinor', 30_000, 40_000);
    const together = conflictsOf(conflicts());
    expect(together).toHaveLength(1);
    for (const conflict of together) await dismissConflict(writer, conflict, 1);
    expect(conflicts().map(({ dismissed }) => dismissed)).toEqual([1, 1]);
  });

  it('list a transfer once and restore both its sides; a part is named after its entry', async () => {
    const box = await addAccount(writer, { ...account, name: 'Box' });
    const side = await addTransfer(writer, purse, box, {
      date: '2025-01-31',
      notes: '',
      amountMinor: -500,
      otherMinor: 500,
      categoryId: null,
    });
    const receipt = await addEntry(
      writer,
      purse,
      { date: '2025-02-01', payee: 'Market', notes: '', categoryId: null, amountMinor: -700 },
      [{ id: '', categoryId: null, amountMinor: -700, notes: '' }],
    );
    const otherSide = writer.rows<{ id: string }>('SELECT id FROM entries WHERE accountId = ?', [box])[0]?.id ?? '';
    for (const [id, entryId, sign] of [
      ['1', side, -1],
      ['2', otherSide, 1],
    ] as const)
      await addLoss(id, 'entries', entryId, 'amountMinor', sign * 400, sign * 500);
    await addLoss('3', 'entries', side, 'notes', 'at the corner', '');
    await addLoss('4', 'parts', `${receipt}/1`, 'amountMinor', -600, -700);

    expect(conflicts().map(({ rowName }) => rowName)).toEqual(['Market', 'Transfer with Box', 'Transfer with Box']);
    const neverAsked = { restore: () => Promise.reject(new Error('one side alone')) };
    for (const conflict of conflictsOf(conflicts()).slice(1))
      await restoreLost({ ...writer, conflicts: neverAsked }, conflict);
    expect(
      writer.rows('SELECT amountMinor, notes FROM entries WHERE transferId IS NOT NULL ORDER BY amountMinor'),
    ).toEqual([
      { amountMinor: -400, notes: 'at the corner' },
      { amountMinor: 400, notes: 'at the corner' },
    ]);
  });
});
