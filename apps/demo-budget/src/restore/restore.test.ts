import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { addEntry } from '../entries/actions.ts';
import { assign } from '../envelopes/actions.ts';
import { exportedTables } from '../export/exported-tables.ts';
import { exportJson } from '../export/export-json.ts';
import { beginNote, entryNoteId } from '../notes/actions.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { addTransfer } from '../transfers/actions.ts';
import { restoreRows } from './actions.ts';
import { readSavedJson, savedProblemSentence, type SavedRow } from './saved-budget.ts';

let writer: MemoryWriter;
let text: string;

beforeEach(async () => {
  writer = memoryWriter();
  await addStarterCategories(writer);
  const purse = await addAccount(writer, { name: 'Purse “Ü”', kind: 'cash', currency: 'JPY', openingMinor: 12 });
  const giro = await addAccount(writer, { name: 'Giro', kind: 'checking', currency: 'JPY', openingMinor: 0 });
  const receipt = await addEntry(
    writer,
    purse,
    { date: '2025-01-31', payee: 'Market', notes: 'two\nlines', categoryId: null, amountMinor: -700 },
    [{ id: '', categoryId: 'starter-home', amountMinor: -700, notes: '' }],
  );
  await addTransfer(writer, giro, purse, {
    date: '2025-01-31',
    notes: '',
    amountMinor: -500,
    otherMinor: 500,
    categoryId: null,
  });
  await assign(writer, [{ month: '2025-01', currency: 'JPY', categoryId: 'starter-home', amountMinor: 900 }]);
  await beginNote(writer, entryNoteId(receipt));
  text = await (await exportJson(writer, 1, () => undefined)).text();
});

const everything = (of: MemoryWriter): object[] =>
  exportedTables.flatMap(({ name }) => of.rows<object>(`SELECT '${name}' AS of, * FROM "${name}" ORDER BY id`));

describe('a saved budget', () => {
  it('is restored row for row', async () => {
    const saved = readSavedJson(text);
    if (!saved.ok) throw new Error(saved.problem);
    const other = memoryWriter();
    await restoreRows(other, saved.value);
    expect(everything(other)).toEqual(everything(writer));
    expect(other.rows('PRAGMA foreign_key_check')).toEqual([]);
  });

  it('is restored completely if it needs several transactions', async () => {
    const columns = { accountId: 'purse', date: '2025-01-31', amountMinor: -1, enteredAtMs: 1 };
    const account = { id: 'purse', name: 'Purse', kind: 'cash', currency: 'EUR', createdAtMs: 1 };
    const entries = Array.from({ length: 1_001 }, (_, index) => ({ ...columns, id: `e${index}` }));
    const seen: number[] = [];
    const other = memoryWriter();
    await restoreRows(
      other,
      new Map<string, readonly SavedRow[]>([
        ['entries', entries],
        ['accounts', [account]],
      ]),
      ({ writtenCount }) => seen.push(writtenCount),
    );
    expect(other.rows('SELECT count(*) AS count FROM entries')).toEqual([{ count: 1_001 }]);
    expect(seen).toEqual([500, 1_000, 1_002]);
  });

  it.each([
    ['', 'not-a-budget'],
    ['Date,Payee\n', 'not-a-budget'],
    ['{"format":"other","tables":{}}', 'not-a-budget'],
    ['{"format":"rockpool-budget-1","tables":[]}', 'not-a-budget'],
    ['{"format":"rockpool-budget-1","tables":{"moons":[]}}', 'newer-version'],
    ['{"format":"rockpool-budget-1","tables":{"accounts":[{"id":"a","moon":1}]}}', 'newer-version'],
    ['{"format":"rockpool-budget-1","tables":{"accounts":[{"name":"no id"}]}}', 'damaged'],
    ['{"format":"rockpool-budget-1","tables":{"accounts":[{"id":"a","name":{"x":1}}]}}', 'damaged'],
    ['{"format":"rockpool-budget-1","tables":{"accounts":[{"id":"a"', 'cut-off'],
  ] as const)('is not read from %s', (given, problem) => {
    expect(readSavedJson(given)).toEqual({ ok: false, problem });
    expect(savedProblemSentence(problem)).toMatch(/\.$/);
  });
});
