import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { decodeFile } from './file/decode.ts';
import { readTable } from './file/table.ts';
import { parseDate, type DateOrder } from './rows/dates.ts';
import { planImport } from './rows/plan.ts';
import { nothingKnown, previewImport, type ImportSettings } from './rows/preview.ts';
import { guessColumns } from './rows/columns.ts';

const isoDate = fc
  .integer({ min: -3_000, max: 25_000 })
  .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));
const statementRow = fc.record({
  date: isoDate,
  payee: fc.constantFrom('Coffee', 'Rent', 'Bäckerei', 'Books; and "more"', 'Two\nlines', 'Salary, monthly'),
  amountMinor: fc.integer({ min: -99_999_999, max: 99_999_999 }),
});
const statement = fc.array(statementRow, { minLength: 1, maxLength: 30 });

type StatementRow = { readonly date: string; readonly payee: string; readonly amountMinor: number };

function csvOf(rows: readonly StatementRow[], delimiter: string): string {
  const lines = rows.map((row) => [row.date, row.payee, (row.amountMinor / 100).toFixed(2)]);
  return Papa.unparse([['Date', 'Payee', 'Amount'], ...lines], { delimiter });
}

const settings: ImportSettings = {
  accountId: 'a1',
  currency: 'EUR',
  columns: {
    date: 0,
    payee: 1,
    amount: 2,
    debit: null,
    credit: null,
    direction: null,
    notes: null,
    currency: null,
    bankId: null,
    category: null,
  },
  dateOrder: 'year-month-day',
  decimalMark: 'point',
  turnSigns: false,
};

function importedKeys(csv: string, known: ReadonlySet<string>): string[] {
  const table = readTable(csv);
  if (!table.ok) throw new Error(table.problem.code);
  const plan = planImport(previewImport(table.value, settings, { ...nothingKnown, importKeys: known }), new Set());
  if (!plan.ok) throw new Error(plan.problem.code);
  return plan.value.entries.map((entry) => entry.importKey);
}

describe('importing', () => {
  it('round-trips a statement’s contents with any delimiter', () => {
    fc.assert(
      fc.property(statement, fc.constantFrom(',', ';', '\t'), (rows, delimiter) => {
        const table = readTable(csvOf(rows, delimiter));
        if (!table.ok) throw new Error(table.problem.code);
        expect(guessColumns(table.value)).toMatchObject({ date: 0, payee: 1, amount: 2 });
        const drafts = previewImport(table.value, settings, nothingKnown).map((row) => row.draft);
        expect(drafts.map((draft) => [draft?.date, draft?.payee, draft?.amountMinor])).toEqual(
          rows.map((row) => [row.date, row.payee.replace('\n', ' '), row.amountMinor]),
        );
      }),
    );
  });

  it('adds nothing the second time, even with the rows in a different order', () => {
    fc.assert(
      fc.property(statement, (rows) => {
        const first = importedKeys(csvOf(rows, ','), new Set());
        expect(new Set(first).size).toBe(rows.length);
        expect(importedKeys(csvOf(rows, ';'), new Set(first))).toEqual([]);
        expect(importedKeys(csvOf(rows.toReversed(), ','), new Set(first))).toEqual([]);
      }),
    );
  });

  it('adds only the new rows of a statement that overlaps an earlier one', () => {
    fc.assert(
      fc.property(statement, statement, (earlier, later) => {
        const known = new Set(importedKeys(csvOf(earlier, ','), new Set()));
        expect(importedKeys(csvOf([...earlier, ...later], ','), known)).toHaveLength(later.length);
      }),
    );
  });

  it('never throws, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        const decoded = await decodeFile(bytes);
        if (decoded.ok) readTable(decoded.value.text);
      }),
    );
  });

  it('reads each day back in each date order', () => {
    const write: Readonly<Record<DateOrder, (year: string, month: string, day: string) => string>> = {
      'year-month-day': (year, month, day) => `${year}-${month}-${day}`,
      'day-month-year': (year, month, day) => `${day}.${month}.${year}`,
      'month-day-year': (year, month, day) => `${month}/${day}/${year}`,
      'year-day-month': (year, month, day) => `${year}${day}${month}`,
    };
    fc.assert(
      fc.property(
        isoDate,
        fc.constantFrom<DateOrder[]>('year-month-day', 'day-month-year', 'month-day-year', 'year-day-month'),
        (iso, order) => {
          const [year = '', month = '', day = ''] = iso.split('-');
          expect(parseDate(write[order](year, month, day), order)).toEqual({ ok: true, value: iso });
        },
      ),
    );
  });
});
