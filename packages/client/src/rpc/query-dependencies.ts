/** A query that finds rows of a table by one value of one column. */
export interface Lookup {
  readonly column: string;
  /** See lookup-key.ts. */
  readonly key: string;
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
  /** For columns by which rows are found: the keys (lookup-key.ts) that changed rows had or have. A column that is absent may have had any. */
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
 * What SQLite calls a rowid that is no column of the table. A row that was deleted and inserted again in one transaction counts as changed in the columns that
 * differ, and its rowid is another one all the same. (Inserted again just as it was, it counts as unchanged, and nobody is told of the rowid.)
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
    if (change.columns !== null && !columns.includes(ROWID) && !change.columns.some((column) => columns.includes(column))) return false;
    return lookups === null || lookups.some(({ column, key }) => change.keysByColumn[column]?.includes(key) ?? true);
  });
}
