import { decodeFile, maxFileBytes, type Encoding } from './file/decode.ts';
import type { Delimiter, FileProblem } from './file/problem.ts';
import { readTable, type Table } from './file/table.ts';
import { isOfx, ofxColumns, readStatements, type OfxStatement } from './ofx/statements.ts';
import { guessColumns } from './rows/columns.ts';
import { recogniseDateOrder, type DateOrder } from './rows/dates.ts';
import { recogniseDecimalMark } from './rows/decimal-mark.ts';
import type { ColumnChoice } from './rows/columns.ts';
import type { DecimalMark } from '../money/parse.ts';
import { fail, succeed, type Result } from '../result.ts';

/** A file read as a table, with the properties detected from its text. */
export interface ChosenFile {
  readonly format: 'csv' | 'ofx';
  readonly fileName: string;
  readonly text: string;
  readonly encoding: Encoding;
  readonly table: Table;
  /** The statements of an OFX file, including `table`; empty for CSV. */
  readonly statements: readonly OfxStatement[];
}

/** Reads a chosen file. Checks the size first, so that a huge file is rejected unread. */
export async function readChosenFile(fileName: string, file: Blob): Promise<Result<ChosenFile, FileProblem>> {
  if (file.size > maxFileBytes) return fail({ code: 'file-too-large', sizeBytes: file.size, maxBytes: maxFileBytes });
  const decoded = decodeFile(new Uint8Array(await file.arrayBuffer()));
  if (!decoded.ok) return decoded;
  const { text, encoding } = decoded.value;
  return isOfx(text) ? readOfx(fileName, text, encoding) : divide(fileName, text, encoding);
}

function readOfx(fileName: string, text: string, encoding: Encoding): Result<ChosenFile, FileProblem> {
  const read = readStatements(text);
  if (!read.ok) return read;
  const [first] = read.value;
  return first === undefined
    ? fail({ code: 'file-has-no-entries' })
    : succeed({ format: 'ofx', fileName, text, encoding, table: first.table, statements: read.value });
}

/** Re-reads the file with another delimiter. */
export function divideBy(file: ChosenFile, delimiter: Delimiter): Result<ChosenFile, FileProblem> {
  return divide(file.fileName, file.text, file.encoding, delimiter);
}

function divide(
  fileName: string,
  text: string,
  encoding: Encoding,
  delimiter?: Delimiter,
): Result<ChosenFile, FileProblem> {
  const table = readTable(text, delimiter);
  return table.ok ? succeed({ format: 'csv', fileName, text, encoding, table: table.value, statements: [] }) : table;
}

/** The settings that a user sees and may correct before anything is imported. */
export interface FormatChoice {
  readonly columns: ColumnChoice;
  readonly dateOrder: DateOrder;
  /** The dates do not determine the order, and the user has not chosen one yet. */
  readonly dateOrderOpen: boolean;
  readonly decimalMark: DecimalMark;
  readonly decimalMarkOpen: boolean;
  readonly turnSigns: boolean;
}

/** Guesses the meaning of a file's columns and cells. */
export function guessFormats({ format, table }: ChosenFile): FormatChoice {
  return { ...formatsOfColumns(table, format === 'ofx' ? ofxColumns : guessColumns(table)), turnSigns: false };
}

/** Guesses the formats of the cells, for the chosen columns. */
export function formatsOfColumns(table: Table, columns: ColumnChoice): Omit<FormatChoice, 'turnSigns'> {
  const cellsOf = (column: number | null): string[] =>
    column === null ? [] : table.rows.map((row) => row.cells[column] ?? '');
  const dates = recogniseDateOrder(cellsOf(columns.date));
  const amounts = recogniseDecimalMark([
    ...cellsOf(columns.amount),
    ...cellsOf(columns.debit),
    ...cellsOf(columns.credit),
  ]);
  return {
    columns,
    dateOrder: dates.order,
    dateOrderOpen: dates.alternatives.length > 0,
    decimalMark: amounts.mark,
    decimalMarkOpen: amounts.ambiguous,
  };
}
