import { isKeyBefore, lookupKey } from './lookup-key.ts';
import { decodeColumn, type EncodedColumn, type EncodedRows } from './rows-transfer.ts';

/** How a query finds rows of a table by one column. Keys are described in lookup-key.ts. */
export type Lookup = ValueLookup | RangeLookup;

export interface ValueLookup {
  readonly column: string;
  readonly key: string;
}

/** Rows from one value to another, both included. Null means from the first row, or to the last. */
export interface RangeLookup {
  readonly column: string;
  /** See isKeyBefore. */
  readonly ofNumbers: boolean;
  readonly from: string | null;
  readonly to: string | null;
  /** Null if the query reads the whole range. */
  readonly stop: RangeStop | null;
}

/** A LIMIT over rows in the order of the column: once the query has that many rows, it stops reading. */
export interface RangeStop {
  readonly rowCount: number;
  /** The result column that holds the value by which the row was found. */
  readonly resultColumn: number;
  /** True if the query reads from `from` to `to`; false for the reverse. */
  readonly isUpwards: boolean;
}

/** The part of one table that a query reads. */
export interface TableDependency {
  readonly table: string;
  /** The columns that the query names anywhere; '' if only the number of rows matters. */
  readonly columns: readonly string[];
  /** The lookups of the query: it reads only rows that match one of them. Null if it may read any row. */
  readonly lookups: readonly Lookup[] | null;
}

/** All tables that a query reads, with views resolved. */
export type QueryDependencies = readonly TableDependency[];

/** The known changes of a commit in one table. */
export interface TableChange {
  readonly table: string;
  /** The changed columns. Null: any, because rows were inserted or deleted. */
  readonly columns: readonly string[] | null;
  /**
   * For lookup columns: the keys (lookup-key.ts) that changed rows had or have. For an absent column, any key is
   * possible.
   */
  readonly keysByColumn: Readonly<Record<string, readonly string[]>>;
}

/** The tables that a commit changed. A table without an entry in `changes` may have changed in any way. */
export interface TouchedTables {
  readonly tables: readonly string[];
  readonly changes: readonly TableChange[];
}

/** The tables that a commit touched; `all` if unknown. */
export type Touched = TouchedTables | 'all';

/**
 * SQLite's name for a rowid that is not a column of the table. If a row was deleted and inserted again in one
 * transaction, only the columns that differ count as changed, although its rowid differs too. If no column differs, the
 * row counts as unchanged and its new rowid is not reported.
 */
export const ROWID = 'ROWID';

/**
 * Returns whether a commit may have changed the result. It may return true for a commit that did not change it, never
 * false for one that did.
 */
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
 * Narrows the dependencies of a query that returned these rows: a LIMIT that ended the query means that it read nothing
 * beyond the last row. Valid until a commit affects the query.
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
