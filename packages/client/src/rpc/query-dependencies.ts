import { isKeyBefore, lookupKey } from './lookup-key.ts';
import { decodeColumn, type EncodedColumn, type EncodedRows } from './rows-transfer.ts';

/** A query that finds rows of a table by one column. Keys: see lookup-key.ts. */
export type Lookup = ValueLookup | RangeLookup;

export interface ValueLookup {
  readonly column: string;
  readonly key: string;
}

/** Rows from one value up to another, both included. Null: from the first, to the last. */
export interface RangeLookup {
  readonly column: string;
  /** See isKeyBefore. */
  readonly ofNumbers: boolean;
  readonly from: string | null;
  readonly to: string | null;
  /** Null where it reads all of them. */
  readonly stop: RangeStop | null;
}

/**
 * A LIMIT over rows in the order of the column: when there are so many, nothing beyond the last of them was looked at.
 */
export interface RangeStop {
  readonly rowCount: number;
  /** Which column of the result has the value by which the row was found. */
  readonly resultColumn: number;
  /** Whether it reads towards `to`, or from there towards `from`. */
  readonly isUpwards: boolean;
}

/** What a query reads of one table. */
export interface TableDependency {
  readonly table: string;
  /** The columns that it names in any place; '' where only the number of rows counts. */
  readonly columns: readonly string[];
  /** Rows that match none of these it does not read. Null: any row. */
  readonly lookups: readonly Lookup[] | null;
}

/** What a query reads, views resolved. */
export type QueryDependencies = readonly TableDependency[];

/** What a commit changed in one table, where that is known. */
export interface TableChange {
  readonly table: string;
  /** The columns that changed. Null: any, as rows came or went. */
  readonly columns: readonly string[] | null;
  /**
   * For columns by which rows are found: the keys (lookup-key.ts) that changed rows had or have. A column that is
   * absent may have had any.
   */
  readonly keysByColumn: Readonly<Record<string, readonly string[]>>;
}

/** A table without an entry in `changes` may have changed anyhow. */
export interface TouchedTables {
  readonly tables: readonly string[];
  readonly changes: readonly TableChange[];
}

/** What a commit touched; `all` where that is not known. */
export type Touched = TouchedTables | 'all';

/**
 * What SQLite calls a rowid that is no column of the table. A row that was deleted and inserted again in one
 * transaction counts as changed in the columns that differ, and its rowid is another one all the same. (Inserted again
 * just as it was, it counts as unchanged, and nobody is told of the rowid.)
 */
export const ROWID = 'ROWID';

/** Whether a commit can have changed the result. Never false when it did. */
export function mayAffect(touched: Touched, dependencies: QueryDependencies): boolean {
  return touched === 'all' || dependencies.some((dependency) => touchesTable(touched, dependency));
}

function touchesTable({ tables, changes }: TouchedTables, { table, columns, lookups }: TableDependency): boolean {
  if (!tables.includes(table)) return false;
  const known = changes.filter((change) => change.table === table);
  if (known.length === 0) return true;
  return known.some((change) => {
    if (
      change.columns !== null &&
      !columns.includes(ROWID) &&
      !change.columns.some((column) => columns.includes(column))
    )
      return false;
    return (
      lookups === null ||
      lookups.some((lookup) => change.keysByColumn[lookup.column]?.some((key) => mayFind(lookup, key)) ?? true)
    );
  });
}

function mayFind(lookup: Lookup, key: string): boolean {
  if ('key' in lookup) return lookup.key === key;
  const { from, to, ofNumbers } = lookup;
  return !(from !== null && isKeyBefore(key, from, ofNumbers)) && !(to !== null && isKeyBefore(to, key, ofNumbers));
}

/**
 * The same for a query that gave these rows, until a commit affects it: where a LIMIT ended it, it has seen nothing
 * beyond the last row.
 */
export function dependenciesAfter(dependencies: QueryDependencies, rows: EncodedRows): QueryDependencies {
  return dependencies.map((dependency) =>
    dependency.lookups === null
      ? dependency
      : { ...dependency, lookups: dependency.lookups.map((lookup) => lookupAfter(lookup, rows)) },
  );
}

function lookupAfter(lookup: Lookup, { columns, rowCount }: EncodedRows): Lookup {
  if ('key' in lookup || lookup.stop?.rowCount !== rowCount) return lookup;
  const { resultColumn, isUpwards } = lookup.stop;
  const last = lastKey(columns[resultColumn] as EncodedColumn, rowCount);
  return isUpwards ? { ...lookup, to: last } : { ...lookup, from: last };
}

function lastKey(column: EncodedColumn, rowCount: number): string {
  return lookupKey(decodeColumn(column, rowCount)[rowCount - 1] ?? null);
}
