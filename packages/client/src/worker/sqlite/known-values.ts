import type { SqlValue } from '../../rpc/sql-value.ts';

/** Counts the statements of this connection that may have changed one internal table. */
export interface TableWrites {
  count: number;
}

interface KnownRow {
  readonly row: readonly SqlValue[] | undefined;
  readonly count: number;
}

/**
 * First rows of internal queries, kept until a statement of this connection writes their table. A failed statement or a
 * rollback discards all of them. The connection must be the file's only writer.
 *
 * Deliveries and status reports ask for the same few rows many times, and each query costs as much as writing a row.
 */
export class KnownValues {
  private readonly tables: Map<string, TableWrites> = new Map();
  private readonly rows: Map<string, KnownRow & { readonly table: TableWrites }> = new Map();

  writesOf(table: string): TableWrites {
    let writes = this.tables.get(table);
    if (writes === undefined) {
      writes = { count: 0 };
      this.tables.set(table, writes);
    }
    return writes;
  }

  /** The first row of a query of this table alone, without parameters. */
  row(
    table: string,
    sql: string,
    read: (sql: string) => readonly SqlValue[] | undefined,
  ): readonly SqlValue[] | undefined {
    const known = this.rows.get(sql);
    if (known !== undefined && known.count === known.table.count) return known.row;
    const writes = known?.table ?? this.writesOf(table);
    const { count } = writes;
    const row = read(sql);
    this.rows.set(sql, { row, count, table: writes });
    return row;
  }

  forgetAll(): void {
    for (const writes of this.tables.values()) writes.count++;
  }
}

const INTERNAL_TABLE = /rockpool_\w+/g;

/** The internal tables that a statement names, each once. */
export function internalTablesIn(sql: string): readonly string[] {
  return [...new Set(sql.match(INTERNAL_TABLE))];
}

/** Whether the SQL may undo what earlier statements wrote. */
export function mayUndo(sql: string): boolean {
  return !/^\s*(?:BEGIN|COMMIT|SAVEPOINT|RELEASE)\b[^;]*$/i.test(sql);
}
