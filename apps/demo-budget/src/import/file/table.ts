import Papa from 'papaparse';
import { fail, succeed, type Result } from '../../result.ts';
import { looksLikeAmount, looksLikeDate, looksLikeEntry } from './cell-shape.ts';
import { delimiterScore, recogniseDelimiter } from './delimiter.ts';
import type { Delimiter, FileProblem } from './problem.ts';

export interface TableRow {
  /** The row number in a spreadsheet program: 1 for the first row of the file, whatever it contains. */
  readonly rowNumber: number;
  readonly cells: readonly string[];
}

/** The table in a bank's file, without the lines above its header. */
export interface Table {
  /** NULL if the file is not CSV and has no delimiter. */
  readonly delimiter: Delimiter | null;
  /**
   * Never empty, and all different: `Column 1` and so on if the file does not name its columns; `Amount (2)` for the
   * second of two columns with the same name.
   */
  readonly header: readonly string[];
  readonly hasHeader: boolean;
  readonly rows: readonly TableRow[];
}

/** The size that this app is measured with. Each row is an insert that syncs. */
export const maxRows = 100_000;

/** Number of rows searched for a header; the longest preamble seen in banks' exports has about 15 lines. */
const maxPreambleRows = 40;

/**
 * Finds and reads the table in a file's text.
 *
 * @param chosen the delimiter that the user set; detected if omitted.
 */
export function readTable(text: string, chosen?: Delimiter): Result<Table, FileProblem> {
  const delimiter = chosen ?? recogniseDelimiter(text);
  if (delimiter === undefined) return fail({ code: 'file-not-a-table' });
  if (chosen !== undefined) {
    const suggested = recogniseDelimiter(text);
    const clearlyWrong = delimiterScore(text, chosen) === 0 || !hasEntries(text, chosen);
    if (suggested === undefined) return fail({ code: 'file-not-a-table' });
    if (clearlyWrong && suggested !== chosen)
      return fail({ code: 'file-wrong-delimiter', delimiter: chosen, suggested });
  }
  const parsed = Papa.parse<string[]>(text, { delimiter });
  const unclosed = parsed.errors.find(
    ({ code, row }) =>
      code === 'MissingQuotes' || (code === 'InvalidQuotes' && swallowsRows(parsed.data[row ?? -1] ?? [], delimiter)),
  );
  // Papaparse counts rows from 0, spreadsheets from 1.
  if (unclosed !== undefined) return fail({ code: 'file-quote-unclosed', rowNumber: (unclosed.row ?? 0) + 1 });
  const rows: TableRow[] = [];
  for (const [index, cells] of parsed.data.entries()) {
    if (cells.some((cell) => cell.trim() !== ''))
      rows.push({ rowNumber: index + 1, cells: cells.map((cell) => cell.trim()) });
  }
  if (rows.length > maxRows) return fail({ code: 'file-too-many-rows', rowCount: rows.length, maxRows });
  return succeed(withoutPreamble(rows, delimiter));
}

/**
 * Whether a cell contains the beginning of another row, as after `"Golden Hart" Inn`: a quotation mark that only begins
 * a cell lasts until one that ends a cell, any number of rows below.
 */
function swallowsRows(cells: readonly string[], delimiter: Delimiter): boolean {
  const linesBelow = cells.flatMap((cell) => cell.split(/[\r\n]+/).slice(1));
  return linesBelow.some((line) => line.split(delimiter).some(looksLikeDate));
}

function hasEntries(text: string, delimiter: Delimiter): boolean {
  return Papa.parse<string[]>(text, { delimiter, preview: maxPreambleRows * 2 }).data.some(looksLikeEntry);
}

/**
 * The header is the last row above the first entry that names at least half as many columns as the entry has, and
 * contains neither a date nor an amount.
 */
function withoutPreamble(rows: readonly TableRow[], delimiter: Delimiter): Table {
  const firstEntry = rows.slice(0, maxPreambleRows).findIndex((row) => looksLikeEntry(row.cells));
  const width = firstEntry === -1 ? widest(rows) : (rows[firstEntry]?.cells.length ?? 0);
  const above = rows.slice(0, firstEntry === -1 ? 1 : firstEntry);
  const headerIndex = above.findLastIndex((row) => {
    const named = row.cells.filter((cell) => cell !== '').length;
    return named * 2 >= width && named >= 2 && !row.cells.some((cell) => looksLikeDate(cell) || looksLikeAmount(cell));
  });
  const names = headerIndex === -1 ? [] : (rows[headerIndex]?.cells ?? []);
  const body = headerIndex === -1 ? rows.slice(Math.max(firstEntry, 0)) : rows.slice(headerIndex + 1);
  const columns = Math.max(names.length, width);
  const header = distinct(Array.from({ length: columns }, (_, column) => names[column] || `Column ${column + 1}`));
  return { delimiter, header, hasHeader: headerIndex !== -1, rows: body };
}

/** A profile finds a column by its name. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let count = 2; taken.has(own); count += 1) own = `${name} (${count})`;
    taken.add(own);
    return own;
  });
}

function widest(rows: readonly TableRow[]): number {
  return rows.reduce((width, row) => Math.max(width, row.cells.length), 0);
}
