import { describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addEntry } from '../entries/actions.ts';
import { latestConflicts, type ConflictRow } from '../queries.ts';
import { memoryWriter } from '../testing/memory-writer.ts';
import { addTransfer } from '../transfers/actions.ts';
import { restoreLostValue } from './actions.ts';

describe('the latest conflicts', () => {
  it('come with the row as it is now, newest first, and a lost value can be put back', async () => {
    const writer = memoryWriter();
    // The columns that this app reads; Rockpool makes the whole table.
    await writer.execute(
      'CREATE TABLE rockpool_conflict (id, table_name, row_key, column_name, lost_value, won_value, lost_by, won_by, lost_at_ms, won_at_ms)',
    );
    const accountId = await addAccount(writer, { name: 'Cash', kind: 'cash', currency: 'JPY', openingMinor: 0 });
    const entryId = await addEntry(writer, accountId, { date: '2025-01-31', payee: 'Coffee', notes: '', categoryId: null, amountMinor: -421 });
    const insert = 'INSERT INTO rockpool_conflict VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
    await writer.execute(insert, ['1', 'accounts', JSON.stringify([accountId]), 'name', 'Purse', 'Cash', 'device-1', 'device-2', 1, 2]);
    await writer.execute(insert, ['2', 'entries', JSON.stringify([entryId]), 'amountMinor', -419, -421, 'device-1', 'device-2', 3, 4]);
    await writer.execute(insert, ['3', 'entries', '["gone"]', null, null, null, 'device-1', 'device-2', 5, 6]);
    // Nothing that a person wrote.
    await writer.execute(insert, ['4', 'entries', JSON.stringify([entryId]), 'enteredAtMs', 1, 2, 'device-1', 'device-2', 7, 8]);

    const conflicts = writer.rows<ConflictRow>(latestConflicts);
    expect(conflicts).toMatchObject([
      { id: '3', rowName: null, currency: null, columnName: null },
      { id: '2', rowName: 'Coffee', rowDate: '2025-01-31', currency: 'JPY', lostValue: -419, wonValue: -421, currentValue: -421 },
      { id: '1', rowName: 'Cash', rowDate: null, currency: 'JPY', lostValue: 'Purse', currentValue: 'Cash' },
    ]);
    for (const conflict of conflicts) await restoreLostValue(writer, conflict);
    expect(writer.rows('SELECT amountMinor FROM entries')).toEqual([{ amountMinor: -419 }]);
    expect(writer.rows<ConflictRow>(latestConflicts)[1]?.currentValue).toBe(-419);
    expect(writer.rows('SELECT name FROM accounts')).toEqual([{ name: 'Purse' }]);
  });

  it('of a transfer are one, which is put back on both sides; of a part are called as its entry', async () => {
    const writer = memoryWriter();
    await writer.execute('CREATE TABLE rockpool_conflict (id, table_name, row_key, column_name, lost_value, won_value, lost_by, won_by, lost_at_ms, won_at_ms)');
    const account = { kind: 'cash', currency: 'EUR', openingMinor: 0 } as const;
    const purse = await addAccount(writer, { ...account, name: 'Purse' });
    const box = await addAccount(writer, { ...account, name: 'Box' });
    const side = await addTransfer(writer, purse, box, { date: '2025-01-31', notes: '', amountMinor: -500, otherMinor: 500, categoryId: null });
    const receipt = await addEntry(writer, purse, { date: '2025-02-01', payee: 'Market', notes: '', categoryId: null, amountMinor: -700 }, [{ id: '', categoryId: null, amountMinor: -700, notes: '' }]);
    const insert = "INSERT INTO rockpool_conflict SELECT ?, ?, json_array(?), 'amountMinor', ?, ?, 'device-1', 'device-2', 1, 2";
    const otherSide = writer.rows<{ id: string }>('SELECT id FROM entries WHERE accountId = ?', [box])[0]?.id ?? '';
    await writer.execute(insert, ['1', 'entries', side, -400, -500]);
    await writer.execute(insert, ['2', 'entries', otherSide, 400, 500]);
    await writer.execute(insert, ['3', 'parts', `${receipt}/1`, -600, -700]);

    const conflicts = writer.rows<ConflictRow>(latestConflicts);
    expect(conflicts.map(({ rowName, currentValue }) => [rowName, currentValue])).toEqual([
      ['Market', -700],
      ['Transfer with Box', -500],
    ]);
    for (const conflict of conflicts) await restoreLostValue(writer, conflict);
    expect(writer.rows('SELECT amountMinor FROM entries WHERE transferId IS NOT NULL ORDER BY amountMinor')).toEqual([{ amountMinor: -400 }, { amountMinor: 400 }]);
    expect(writer.rows('SELECT amountMinor FROM parts')).toEqual([{ amountMinor: -600 }]);
  });
});
