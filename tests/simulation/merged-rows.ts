import { householdSchema, LOBBY } from './household-schema.ts';
import {
  keyOf,
  linesOf,
  NULL,
  ORACLE_TABLES,
  parseLine,
  rowNameOf,
  tableOf,
  toLiteral,
  type Literal,
  type OracleTable,
  type TableTexts,
} from './oracle/tables.ts';

// The rows that merging a branch and restoring transactions must produce on a device: the guides' rules, written a
// second time in the simplest way.

type Values = ReadonlyMap<string, Literal>;

/** Rows by name, see `rowNameOf`. */
type Rows = ReadonlyMap<string, Values>;

/** The change to make to a row, from `base` to `wanted`. Null if the row does not exist. */
export interface RowChange {
  readonly row: string;
  readonly base: Values | null;
  readonly wanted: Values | null;
}

export interface Merged {
  readonly changes: readonly RowChange[];
  /** The rows of the device before and after. */
  readonly before: TableTexts;
  readonly after: TableTexts;
  /** In a conflict, the device's own state is kept. */
  readonly keepsCurrent: boolean;
}

/** The rows that differ. */
export function changesBetween(base: TableTexts, wanted: TableTexts): RowChange[] {
  const [from, to] = [rowsOf(base), rowsOf(wanted)];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((row): RowChange[] => {
    const change = { row, base: from.get(row) ?? null, wanted: to.get(row) ?? null };
    return isSame(change.base, change.wanted) ? [] : [change];
  });
}

export interface Judgement {
  /** The fault in the rows after the merge. Undefined if the rules do not decide. */
  readonly fault: string | null | undefined;
  /** Whether the user has to decide. Null if the rules do not say. */
  readonly hasConflicts: boolean | null;
}

export const NOT_JUDGED: Judgement = { fault: undefined, hasConflicts: null };

export function judgeMerge({ changes, before, after, keepsCurrent }: Merged): Judgement {
  const current = rowsOf(before);
  const expected = new Map(current);
  const deleted: string[] = [];
  let hasConflicts = false;
  let hasDocuments = false;
  for (const change of changes) {
    const theirs = current.get(change.row) ?? null;
    hasDocuments ||= tableOf(change.row).documents.size > 0;
    const merged = mergedRow(change, theirs, keepsCurrent, () => (hasConflicts = true));
    if (merged !== null) expected.set(change.row, merged);
    else if (expected.delete(change.row)) deleted.push(change.row);
  }
  // A delete that affects rows that the branch did not have is a separate conflict.
  const isOpen = deleted.length > 0;
  if (keepsCurrent && isOpen) return NOT_JUDGED;
  const orphan = followDeletes(expected, current, deleted);
  const fault = orphan === null ? differenceOf(expected, rowsOf(after)) : `${orphan} was left without its parent`;
  return { fault, hasConflicts: isOpen || hasDocuments ? null : hasConflicts };
}

function rowsOf(texts: TableTexts): Map<string, Values> {
  const rows = new Map<string, Values>();
  for (const table of ORACLE_TABLES.values())
    for (const line of linesOf(texts.get(table.name) ?? '')) {
      const { key, values } = parseLine(table, line);
      rows.set(rowNameOf(table, key), values);
    }
  return rows;
}

function isSame(a: Values | null, b: Values | null): boolean {
  if (a === null || b === null) return a === b;
  return [...a].every(([column, value]) => b.get(column) === value);
}

function mergedRow(
  { row, base, wanted }: RowChange,
  theirs: Values | null,
  keepsCurrent: boolean,
  onConflict: () => void,
): Values | null {
  if (wanted === null) {
    if (theirs === null || isSame(base, theirs)) return null;
    onConflict();
    return keepsCurrent ? theirs : null;
  }
  if (theirs === null) {
    if (base === null) return wanted;
    onConflict();
    return keepsCurrent ? null : wanted;
  }
  const table = tableOf(row);
  const merged = new Map(theirs);
  for (const columns of unitsOf(table)) {
    const [from, to, now] = [base, wanted, theirs].map((values) => columns.map((one) => values?.get(one) ?? NULL)) as [
      Literal[],
      Literal[],
      Literal[],
    ];
    if (from.every((value, at) => value === to[at])) continue;
    const isCounter = columns.some((column) => table.counters.has(column));
    const isConflict = from.some((value, at) => value !== now[at]) && now.some((value, at) => value !== to[at]);
    if (isConflict && !(isCounter && base !== null)) onConflict();
    for (const [at, column] of columns.entries()) {
      if (isCounter && base !== null) merged.set(column, added(now[at], from[at], to[at]));
      else if (!isConflict || !keepsCurrent) merged.set(column, to[at] as Literal);
    }
  }
  return merged;
}

function added(now: Literal = '0', from: Literal = '0', to: Literal = '0'): Literal {
  return String(BigInt(now) + BigInt(to) - BigInt(from));
}

/** The columns that are one value: each group, and every other column. */
function unitsOf({ groups, values }: OracleTable): (readonly string[])[] {
  const grouped = new Set(groups.flat());
  return [...groups, ...values.filter((column) => !grouped.has(column)).map((column) => [column])];
}

/** Applies the delete rules of SQLite. Returns a row whose parent must not be deleted. */
function followDeletes(expected: Map<string, Values>, current: Rows, deleted: string[]): string | null {
  for (let parent = deleted.pop(); parent !== undefined; parent = deleted.pop()) {
    const parentTable = tableOf(parent);
    for (const { name, foreignKeys } of householdSchema.tables)
      for (const { columns, foreignTable, foreignColumns, onDelete } of foreignKeys) {
        if (foreignTable !== parentTable.name) continue;
        const wanted = valuesOf(parent, current.get(parent), foreignColumns);
        for (const [child, values] of [...expected]) {
          if (tableOf(child).name !== name) continue;
          const found = valuesOf(child, values, columns);
          if (found.includes(NULL) || found.some((value, at) => value !== wanted[at])) continue;
          if (onDelete === 'cascade') {
            expected.delete(child);
            deleted.push(child);
          } else if (onDelete === 'set null' || onDelete === 'set default') {
            const lobby = [toLiteral(LOBBY.house), toLiteral(LOBBY.number)];
            const next = new Map(values);
            for (const [at, column] of columns.entries())
              next.set(column, onDelete === 'set null' ? NULL : (lobby[at] as Literal));
            expected.set(child, next);
          } else return child;
        }
      }
  }
  return null;
}

function valuesOf(row: string, values: Values | undefined, columns: readonly string[]): Literal[] {
  const { key } = tableOf(row);
  return columns.map(
    (column) => (key.includes(column) ? keyOf(row)[key.indexOf(column)] : values?.get(column)) ?? NULL,
  );
}

/** Ignores documents, which page-items.ts checks. */
function differenceOf(expected: Rows, found: Rows): string | null {
  for (const row of new Set([...expected.keys(), ...found.keys()])) {
    const [wanted, has] = [expected.get(row), found.get(row)];
    if (wanted === undefined || has === undefined)
      return `${readable(row)} ${has === undefined ? 'is not' : 'is'} there`;
    const { documents } = tableOf(row);
    for (const [column, value] of wanted)
      if (!documents.has(column) && has.get(column) !== value)
        return `${column} of ${readable(row)} is ${has.get(column) ?? 'nothing'} instead of ${value}`;
  }
  return null;
}

function readable(row: string): string {
  return row.replaceAll('\u001f', ', ');
}
