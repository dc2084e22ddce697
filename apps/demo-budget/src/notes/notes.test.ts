import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addEntry, deleteEntries } from '../entries/actions.ts';
import { ledgerWindow, wholeLedger, type LedgerRow } from '../queries/ledger.ts';
import { noteBegun } from '../queries/notes.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { beginNote, budgetNoteId, entryNoteId } from './actions.ts';

let writer: MemoryWriter;

beforeEach(() => {
  writer = memoryWriter();
});

it('a new note is created once, and empty', async () => {
  expect(writer.rows(noteBegun, [budgetNoteId])).toEqual([{ begun: 0 }]);
  await beginNote(writer, budgetNoteId);
  await writer.execute(`UPDATE notes SET content = '{"body":[{"insert":"rent\\n"}]}'`);
  await beginNote(writer, budgetNoteId);
  expect(writer.rows('SELECT id, content FROM notes')).toEqual([
    { id: 'budget', content: '{"body":[{"insert":"rent\\n"}]}' },
  ]);
  expect(writer.rows(noteBegun, [budgetNoteId])).toEqual([{ begun: 1 }]);
});

describe('the note of an entry', () => {
  let accountId: string;

  beforeEach(async () => {
    accountId = await addAccount(writer, { name: 'Purse', kind: 'cash', currency: 'EUR', openingMinor: 0 });
  });

  const ledger = (text = ''): string[] => {
    const { sql, params } = ledgerWindow(accountId, { ...wholeLedger, text }, 0, 10);
    return writer.rows<LedgerRow>(sql, params).map(({ payee, hasNote }) => `${payee} ${hasNote}`);
  };

  it('marks its row once it has text, and search finds it', async () => {
    const fields = { date: '2025-01-31', notes: '', categoryId: null, amountMinor: -1 };
    const dentist = await addEntry(writer, accountId, { ...fields, payee: 'Dentist' });
    await addEntry(writer, accountId, { ...fields, payee: 'Kiosk', date: '2025-01-30' });
    await beginNote(writer, entryNoteId(dentist));
    await beginNote(writer, budgetNoteId);
    expect(ledger()).toEqual(['Dentist 0', 'Kiosk 0']);
    await writer.execute(
      `UPDATE notes SET content = '{"body":[{"insert":"The insu"},{"attributes":{"bold":true},"insert":"rance pays"},{"insert":"\\n"}]}'`,
    );
    expect(ledger()).toEqual(['Dentist 1', 'Kiosk 0']);
    expect(ledger('insurance')).toEqual(['Dentist 1']);
    // Matches the text only, not the stored JSON.
    for (const word of ['body', 'bold', 'insert']) expect(ledger(word)).toEqual([]);
    await deleteEntries(writer, [dentist]);
    expect(ledger('insurance')).toEqual([]);
  });
});
