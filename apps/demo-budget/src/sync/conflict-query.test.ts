import { describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addEntry } from '../entries/actions.ts';
import { latestConflicts, type ConflictRow } from '../queries.ts';
import { memoryWriter } from '../testing/memory-writer.ts';
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
});
