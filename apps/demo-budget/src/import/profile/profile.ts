import type { DecimalMark } from '../../money/parse.ts';
import type { ImportProfileRow } from '../../queries/import.ts';
import type { FormatChoice } from '../chosen-file.ts';
import { delimiters } from '../file/delimiter.ts';
import type { Delimiter } from '../file/problem.ts';
import type { Table } from '../file/table.ts';
import type { ColumnChoice, ColumnRole } from '../rows/columns.ts';
import { dateOrders, type DateOrder } from '../rows/dates.ts';

/** How to read an account's statements. Derived from an imported statement and applied to the next one. */
export interface ImportProfile {
  /** The file's column name for each role. */
  readonly columnNames: Readonly<Partial<Record<ColumnRole, string>>>;
  readonly delimiter: Delimiter;
  readonly dateOrder: DateOrder;
  readonly decimalMark: DecimalMark;
  readonly turnSigns: boolean;
}

const roles: readonly ColumnRole[] = [
  'date',
  'amount',
  'debit',
  'credit',
  'direction',
  'payee',
  'notes',
  'currency',
  'bankId',
  'category',
];

/** Undefined for a file without delimiters, which describes its own format. */
export function profileOf(
  table: Table,
  { columns, dateOrder, decimalMark, turnSigns }: FormatChoice,
): ImportProfile | undefined {
  if (table.delimiter === null) return undefined;
  const named = roles.flatMap((role) => {
    const name = table.header[columns[role] ?? -1];
    return name === undefined ? [] : [[role, name] as const];
  });
  return { columnNames: Object.fromEntries(named), delimiter: table.delimiter, dateOrder, decimalMark, turnSigns };
}

/** The profile's formats, if the table has all its columns by name. */
export function formatsOfProfile(
  { columnNames, dateOrder, decimalMark, turnSigns, delimiter }: ImportProfile,
  table: Table,
): FormatChoice | undefined {
  if (table.delimiter !== delimiter) return undefined;
  const columns = Object.fromEntries(
    roles.map((role) => {
      const name = columnNames[role];
      return [role, name === undefined ? null : table.header.indexOf(name)];
    }),
  ) as unknown as ColumnChoice;
  if (Object.values(columns).includes(-1)) return undefined;
  return { columns, dateOrder, dateOrderOpen: false, decimalMark, decimalMarkOpen: false, turnSigns };
}

/**
 * Parses a stored profile. Undefined if a newer version of the app has written values that this version does not know.
 */
export function readProfile({
  columns,
  delimiter,
  dateOrder,
  decimalMark,
  turnSigns,
}: ImportProfileRow): ImportProfile | undefined {
  const knownDelimiter = delimiters.find((known) => known === delimiter);
  const knownOrder = dateOrders.find((known) => known === dateOrder);
  const columnNames = readNames(columns);
  if (
    knownDelimiter === undefined ||
    knownOrder === undefined ||
    columnNames === undefined ||
    (decimalMark !== 'comma' && decimalMark !== 'point')
  )
    return undefined;
  return { columnNames, delimiter: knownDelimiter, dateOrder: knownOrder, decimalMark, turnSigns: turnSigns === 1 };
}

function readNames(text: string): ImportProfile['columnNames'] | undefined {
  let names: unknown;
  try {
    names = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof names !== 'object' || names === null) return undefined;
  return Object.values(names).every((name) => typeof name === 'string')
    ? (names as ImportProfile['columnNames'])
    : undefined;
}
