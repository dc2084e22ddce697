import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

/*
 * The birth of a column is the last watermark without it. A schema migration adds a column, with its default, to every
 * row at once, so the versions of rows do not show when it was added. The first commit after the migration records the
 * births of the new columns.
 */

/**
 * Births by table id and column id. 0 for a column that is as old as the log, or that existed before births were
 * recorded.
 */
type Births = Record<number, Record<number, number>>;

export class ColumnBirths {
  private readonly sql: SqliteFile;
  private readonly tables: readonly StoredTable[];
  private isComplete = false;

  constructor(sql: SqliteFile, tables: readonly StoredTable[]) {
    this.sql = sql;
    this.tables = tables.filter(({ system }) => !system);
  }

  /** Call it in the transaction of every changeset that gets a watermark. */
  record(watermark: number): void {
    if (!this.isComplete) this.isComplete = recordBirths(this.sql, this.tables, watermark - 1);
  }

  /** Restores the stored state after a transaction that did not commit. */
  reload(): void {
    this.isComplete = false;
  }
}

/** Records the current columns in a file without a record of births. Call it before a migration. */
export function beginBirths(sql: SqliteFile, tables: readonly StoredTable[]): void {
  if (readBirths(sql) === null) recordBirths(sql, tables, 0);
}

/** The columns of a table that are younger than the log, each with the last watermark without it. */
export function laterColumns(sql: SqliteFile, { schema, columnIds }: StoredTable): ReadonlyMap<number, number> {
  const births = readBirths(sql);
  if (births === null) return new Map();
  // The birth of a column that no commit has recorded yet.
  const unnoted = (): number => Number(sql.get('SELECT max(watermark) FROM rockpool_log')?.[0] ?? 0n);
  const columns = columnIds.map((id): [number, number] => [id, births[schema.id]?.[id] ?? unnoted()]);
  return new Map(columns.filter(([, until]) => until > 0));
}

/** Returns whether every column had already been recorded. */
function recordBirths(sql: SqliteFile, tables: readonly StoredTable[], until: number): boolean {
  const known = readBirths(sql);
  const births: Births = known ?? {};
  let isComplete = true;
  for (const { schema, columnIds } of tables) {
    for (const id of columnIds) {
      if (births[schema.id]?.[id] !== undefined) continue;
      isComplete = false;
      (births[schema.id] ??= {})[id] = known === null ? 0 : until;
    }
  }
  if (!isComplete) writeMeta(sql, 'column_births', JSON.stringify(births));
  return isComplete;
}

function readBirths(sql: SqliteFile): Births | null {
  const stored = readMeta(sql, 'column_births');
  return stored === undefined ? null : (JSON.parse(stored as string) as Births);
}
