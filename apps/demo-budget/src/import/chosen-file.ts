import { isCamt, readCamt } from './camt/statements.ts';
import { decodeFile, maxFileBytes } from './file/decode.ts';
import type { Encoding } from './file/encoding.ts';
import { foreignFormat } from './file/foreign-format.ts';
import type { Delimiter, FileProblem } from './file/problem.ts';
import { readTable, type Table } from './file/table.ts';
import { isOfx, readStatements } from './ofx/statements.ts';
import { isQif, readQif } from './qif/statements.ts';
import { statementColumns, type Statement } from './statement.ts';
import { guessColumns } from './rows/columns.ts';
import { recogniseDateOrder, type DateOrder } from './rows/dates.ts';
import { recogniseDecimalMark } from './rows/decimal-mark.ts';
import type { ColumnChoice } from './rows/columns.ts';
import type { DecimalMark } from '../money/parse.ts';
import { fail, succeed, type Result } from '../result.ts';

export type FileFormat = 'csv' | 'ofx' | 'qif' | 'camt';

/** A file read as a table, with the properties detected from its text. */
export interface ChosenFile {
  readonly format: FileFormat;
  readonly fileName: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly encoding: Encoding;
  /** Characters that the encoding cannot read. */
  readonly unreadableCount: number;
  readonly table: Table;
  /** The statements of a file that describes itself, including `table`; empty for CSV. */
  readonly statements: readonly Statement[];
}

/** Reads a chosen file. Checks the size first, so that a huge file is rejected unread. */
export async function readChosenFile(fileName: string, file: Blob): Promise<Result<ChosenFile, FileProblem>> {
  if (file.size > maxFileBytes) return fail({ code: 'file-too-large', sizeBytes: file.size, maxBytes: maxFileBytes });
  return await decoded(fileName, new Uint8Array(await file.arrayBuffer()));
}

/** Re-reads the file in a different encoding. */
export async function decodeAs(file: ChosenFile, encoding: Encoding): Promise<Result<ChosenFile, FileProblem>> {
  return await decoded(file.fileName, file.bytes, encoding);
}

async function decoded(
  fileName: string,
  bytes: Uint8Array,
  encoding?: Encoding,
): Promise<Result<ChosenFile, FileProblem>> {
  const result = await decodeFile(bytes, encoding);
  if (!result.ok) return result;
  const read = { fileName, bytes, ...result.value };
  const { text } = read;
  if (isOfx(text)) return withStatements('ofx', read, readStatements(text));
  if (isQif(text)) return withStatements('qif', read, readQif(text));
  if (isCamt(text)) return withStatements('camt', read, readCamt(text));
  const found = foreignFormat(text);
  return found === 'text' ? divide(read) : fail({ code: 'file-format-unknown', found });
}

type DecodedBytes = Pick<ChosenFile, 'fileName' | 'bytes' | 'text' | 'encoding' | 'unreadableCount'>;

function withStatements(
  format: FileFormat,
  read: DecodedBytes,
  statements: Result<readonly Statement[], FileProblem>,
): Result<ChosenFile, FileProblem> {
  if (!statements.ok) return statements;
  const [first] = statements.value;
  return first === undefined
    ? fail({ code: 'file-has-no-entries' })
    : succeed({ ...read, format, table: first.table, statements: statements.value });
}

/** Re-reads the file with a different delimiter. */
export function divideBy(file: ChosenFile, delimiter: Delimiter): Result<ChosenFile, FileProblem> {
  return divide(file, delimiter);
}

function divide(read: DecodedBytes, delimiter?: Delimiter): Result<ChosenFile, FileProblem> {
  const { fileName, bytes, text, encoding, unreadableCount } = read;
  const table = readTable(text, delimiter);
  if (!table.ok)
    return table.problem.code === 'file-not-a-table' ? fail({ code: 'file-format-unknown', found: 'text' }) : table;
  return succeed({
    format: 'csv',
    fileName,
    bytes,
    text,
    encoding,
    unreadableCount,
    table: table.value,
    statements: [],
  });
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
  const formats = formatsOfColumns(table, format === 'csv' ? guessColumns(table) : statementColumns);
  const isGrouped = format === 'csv' || format === 'qif';
  return { ...formats, ...(isGrouped ? {} : markWithoutGroups(table, formats)), turnSigns: false };
}

/**
 * Neither CAMT nor OFX groups thousands, so `1.500` has three decimals. The mark is a point in CAMT, and a point or a
 * comma in OFX. It stays undecided if a file contains both.
 */
function markWithoutGroups(
  table: Table,
  { decimalMark, decimalMarkOpen }: Pick<FormatChoice, 'decimalMark' | 'decimalMarkOpen'>,
): Pick<FormatChoice, 'decimalMark' | 'decimalMarkOpen'> {
  if (!decimalMarkOpen) return { decimalMark, decimalMarkOpen };
  const amounts = table.rows.map(({ cells }) => cells[statementColumns.amount ?? -1] ?? '');
  const hasComma = amounts.some((amount) => amount.includes(','));
  const hasPoint = amounts.some((amount) => amount.includes('.'));
  return { decimalMark: hasComma ? 'comma' : 'point', decimalMarkOpen: hasComma && hasPoint };
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
