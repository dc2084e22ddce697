import { parseAmount, type AmountProblem, type DecimalMark } from '../../money/parse.ts';
import { fail, succeed, type Result } from '../../result.ts';
import type { Table, TableRow } from '../file/table.ts';
import { bankIdOf } from './bank-id.ts';
import { directionOf, type ColumnChoice } from './columns.ts';
import { parseDate, type DateOrder } from './dates.ts';
import { importKey } from './import-key.ts';
import { findAlike, type KnownEntry } from './likeness.ts';
import type { RowProblem } from './problem.ts';

/** The user's decisions about a file. */
export interface ImportSettings {
  readonly accountId: string;
  /** The currency of the account. */
  readonly currency: string;
  readonly columns: ColumnChoice;
  readonly dateOrder: DateOrder;
  readonly decimalMark: DecimalMark;
  /** For banks that write spending without a minus, as credit cards do. */
  readonly turnSigns: boolean;
}

/** A ledger entry to be imported. */
export interface ImportDraft {
  readonly importKey: string;
  readonly date: string;
  readonly amountMinor: number;
  readonly payee: string;
  readonly notes: string;
  /** The name of the category in the file; empty if the row has none. */
  readonly categoryName: string;
}

export interface PreviewRow {
  readonly rowNumber: number;
  readonly cells: readonly string[];
  /** The entry to write; undefined if the row has problems. */
  readonly draft: ImportDraft | undefined;
  readonly problems: readonly RowProblem[];
  /** The ledger already has this row, from an earlier import. */
  readonly duplicate: boolean;
  /** A similar entry of the ledger, imported or typed. */
  readonly alike: KnownEntry | null;
}

/** The existing entries of the account. */
export interface KnownEntries {
  readonly importKeys: ReadonlySet<string>;
  /** At least the entries of the file's days and of the few days around them. */
  readonly entries: readonly KnownEntry[];
}

export const nothingKnown: KnownEntries = { importKeys: new Set(), entries: [] };

/** Reads each row of the table with the settings. It writes nothing, and the same table produces the same preview. */
export function previewImport(table: Table, settings: ImportSettings, known: KnownEntries): readonly PreviewRow[] {
  const occurrences = new Map<string, number>();
  const rows = table.rows.map((row): PreviewRow => {
    const date = parseDate(cellAt(row, settings.columns.date), settings.dateOrder);
    const amount = amountOf(row, settings);
    const problems: RowProblem[] = [];
    if (!date.ok) problems.push(date.problem);
    if (!amount.ok) problems.push(amount.problem);
    const found = foreignCurrency(row, settings);
    if (found !== undefined) problems.push({ code: 'currency-differs', found, expected: settings.currency });
    if (!date.ok || !amount.ok || problems.length > 0) {
      return { rowNumber: row.rowNumber, cells: row.cells, draft: undefined, problems, duplicate: false, alike: null };
    }
    const payee = oneLine(cellAt(row, settings.columns.payee));
    const bankId = bankIdOf(cellAt(row, settings.columns.bankId));
    const { accountId } = settings;
    const identity =
      bankId === '' ? { accountId, date: date.value, amountMinor: amount.value, payee } : { accountId, bankId };
    const first = importKey({ ...identity, occurrence: 1 });
    const occurrence = (occurrences.get(first) ?? 0) + 1;
    occurrences.set(first, occurrence);
    const key = occurrence === 1 ? first : importKey({ ...identity, occurrence });
    const draft = {
      importKey: key,
      date: date.value,
      amountMinor: amount.value,
      payee,
      notes: cellAt(row, settings.columns.notes),
      categoryName: oneLine(cellAt(row, settings.columns.category)),
    };
    return {
      rowNumber: row.rowNumber,
      cells: row.cells,
      draft,
      problems,
      duplicate: known.importKeys.has(key),
      alike: null,
    };
  });
  return withAlike(rows, known);
}

function withAlike(rows: readonly PreviewRow[], known: KnownEntries): readonly PreviewRow[] {
  const inFile = new Set(
    rows.flatMap(({ draft, duplicate }) => (duplicate && draft !== undefined ? [draft.importKey] : [])),
  );
  // An entry that this file imported earlier belongs to its own row, so it is not compared with other rows.
  const others = known.entries.filter(({ importKey: key }) => key === null || !inFile.has(key));
  const alike = findAlike(
    rows.flatMap(({ draft, duplicate }) => (draft === undefined || duplicate ? [] : [draft])),
    others,
  );
  return rows.map((row) => ({ ...row, alike: (row.draft === undefined ? undefined : alike.get(row.draft)) ?? null }));
}

function cellAt(row: TableRow, column: number | null): string {
  return column === null ? '' : (row.cells[column] ?? '');
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ');
}

function foreignCurrency(row: TableRow, settings: ImportSettings): string | undefined {
  const currency = cellAt(row, settings.columns.currency).toUpperCase();
  if (currency === '' || currency === settings.currency) return undefined;
  // A problem may be logged, so it contains no other text from the file.
  return /^[A-Z]{3}$/.test(currency) ? currency : 'another currency';
}

function amountOf(row: TableRow, settings: ImportSettings): Result<number, AmountProblem | RowProblem> {
  const { columns, currency, decimalMark, turnSigns } = settings;
  const read = (column: number | null): Result<number, AmountProblem> =>
    parseAmount(cellAt(row, column), currency, decimalMark);
  const signed = (amountMinor: number): Result<number, never> =>
    succeed(turnSigns && amountMinor !== 0 ? -amountMinor : amountMinor);
  if (columns.amount !== null) {
    const amount = read(columns.amount);
    if (!amount.ok) return amount;
    const isOut = directionOf(cellAt(row, columns.direction)) === 'out';
    return signed(isOut && amount.value > 0 ? -amount.value : amount.value);
  }
  const debit = read(columns.debit);
  const credit = read(columns.credit);
  const unreadable = [debit, credit].find((side) => !side.ok && side.problem.code !== 'amount-missing');
  if (unreadable !== undefined) return unreadable;
  // Some banks write 0.00 in the unused column, and some write money out with a minus.
  const debitMinor = debit.ok ? -Math.abs(debit.value) : 0;
  const creditMinor = credit.ok ? credit.value : 0;
  if (debitMinor !== 0 && creditMinor !== 0) return fail({ code: 'amount-on-both-sides' });
  if (!debit.ok && !credit.ok) return fail({ code: 'amount-missing' });
  return signed(debitMinor === 0 ? creditMinor : debitMinor);
}
