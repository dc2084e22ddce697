import { existsSync } from 'node:fs';
import { encodeKey, RockpoolError, type CellValue, type Schema } from '#shared/index.ts';
import { columnDefaults } from '#sync-server/history/column-defaults.ts';
import { pastRows } from '#sync-server/history/past-rows.ts';
import { readHistory, readRowAtVersion } from '#sync-server/history/read-history.ts';
import { laterColumns } from '#sync-server/log/column-births.ts';
import type { Log } from '#sync-server/log/log.ts';
import { Sites } from '#sync-server/log/sites.ts';
import { SqliteFile } from '#sync-server/sqlite/sqlite-file.ts';
import type { StoredTable } from '#sync-server/sqlite/stored-table.ts';
import { storedTables, type DatabaseReader } from '#sync-server/store/database-file.ts';
import { storedSchema } from '#sync-server/store/inspect-database.ts';
import { expect } from 'vitest';

const DAY_MS = 24 * 3600_000;

type Row = Readonly<Record<string, CellValue>>;
/** Rows by table and key. */
type Moment = ReadonlyMap<string, ReadonlyMap<string, Row>>;

/** The rows of a server after each changeset, as a replica that stopped there holds them. */
export class RecordedMoments {
  private readonly moments: Moment[] = [new Map()];
  /** The server's time when it received each changeset. */
  private readonly receivedMs: number[] = [0];

  record(log: Log, watermark: number, nowMs: number): void {
    const { sql } = log as unknown as { readonly sql: SqliteFile };
    this.moments[watermark] = rowsOf(sql);
    this.receivedMs[watermark] = nowMs;
  }

  /** Forgets the moments that a restored server lacks. */
  forgetAbove(path: string): void {
    if (!existsSync(path)) {
      this.moments.length = 1;
      return;
    }
    const sql = new SqliteFile(path, { readOnly: true });
    try {
      this.moments.length = Number(sql.get('SELECT coalesce(max(watermark), 0) FROM rockpool_log')?.[0]) + 1;
    } finally {
      sql.close();
    }
  }

  /**
   * Compares each moment with what the history says about it at a time. A moment may be unavailable because versions
   * have expired.
   */
  check(path: string, nowMs: number): void {
    const sql = new SqliteFile(path, { readOnly: true });
    try {
      const schema: Schema = storedSchema(sql);
      const tables = storedTables(schema);
      const file: DatabaseReader = {
        sql,
        sites: new Sites(sql),
        tableByName: new Map(tables.map((table) => [table.schema.name, table])),
      };
      for (const table of tables) {
        if (table.system || table.schema.history === undefined) continue;
        for (let watermark = 1; watermark < this.moments.length; watermark++) {
          const found = this.pastRowsAt(file, table, watermark, nowMs);
          const what = `${table.schema.name} at ${watermark}`;
          if (found !== null) expect(found, what).toEqual(this.rowsAt(table, watermark));
          else expect(watermark, what).toBeLessThan(this.lastExpired(table, nowMs));
        }
        this.checkVersions(file, table, nowMs);
      }
    } finally {
      sql.close();
    }
  }

  private checkVersions(file: DatabaseReader, table: StoredTable, nowMs: number): void {
    const keys = new Set(this.moments.flatMap((moment) => [...(moment.get(table.schema.name)?.keys() ?? [])]));
    for (const key of keys) {
      const row = { table: table.schema.name, key: encodeKey([key]) };
      const rowAt = (watermark: number): Row | undefined => this.rowsAt(table, watermark).get(key);
      const { versions, isTruncated } = readHistory(
        file as never,
        { ...row, before: null, limit: 200, column: null, format: 2 },
        nowMs,
      );
      const changed = this.moments.flatMap((_, watermark) =>
        watermark > 0 && !isSame(rowAt(watermark - 1), rowAt(watermark)) ? [watermark] : [],
      );
      const kept = changed.filter((watermark) => watermark > this.lastExpired(table, nowMs));
      expect(versions.map(({ watermark }) => watermark).reverse(), `versions of ${key}`).toEqual(kept);
      // Nothing is known of a row that was deleted so long ago that its tombstone is pruned.
      const isBegin = versions.at(-1)?.kind === 'insert' || versions.length === 0;
      if (kept.length === changed.length || !isBegin)
        expect(isTruncated, `versions of ${key}`).toBe(kept.length < changed.length);
      for (const { watermark, changes, kind } of versions) {
        const found = readRowAtVersion(file as never, { ...row, version: watermark }, nowMs);
        const named = [...(found ?? [])].map(([columnId, value]) => [nameOf(table, columnId), value]);
        expect(found === null ? undefined : Object.fromEntries(named)).toEqual(rowAt(watermark));
        const after = rowAt(watermark);
        for (const { columnId, values } of changes)
          if (values !== null && kind !== 'delete') expect(values.after).toEqual(after?.[nameOf(table, columnId)]);
        if (kind === 'insert')
          expect(changes.map(({ columnId }) => nameOf(table, columnId)).sort()).toEqual(
            Object.keys(after ?? {}).sort(),
          );
      }
    }
  }

  private rowsAt({ schema }: StoredTable, watermark: number): ReadonlyMap<string, Row> {
    return this.moments[watermark]?.get(schema.name) ?? new Map<string, Row>();
  }

  /** The newest changeset whose versions of the table have expired; 0 if none. */
  private lastExpired({ schema }: StoredTable, nowMs: number): number {
    const keptMs = (schema.history?.retainedDays ?? Infinity) * DAY_MS;
    const last = this.moments.findLastIndex(
      (_, watermark) => watermark > 0 && nowMs - (this.receivedMs[watermark] as number) > keptMs,
    );
    return Math.max(last, 0);
  }

  /**
   * The rows without columns that the history reports as added later, which must have their defaults. Null if the
   * moment is no longer available.
   */
  private pastRowsAt(
    file: DatabaseReader,
    table: StoredTable,
    watermark: number,
    nowMs: number,
  ): ReadonlyMap<string, Row> | null {
    const found = rowsUnlessGone(file, table, watermark, nowMs);
    if (found === null) return null;
    const later = laterColumns(file.sql, table);
    const rows = new Map<string, Row>();
    for (const [key, ...values] of found) {
      const row: Record<string, CellValue> = {};
      for (const [i, columnId] of table.columnIds.entries()) {
        const value = values[i] ?? null;
        if (watermark > (later.get(columnId) ?? 0)) row[nameOf(table, columnId)] = value;
        else expect(value).toEqual(columnDefaults(table).get(columnId));
      }
      rows.set(String(key), row);
    }
    return rows;
  }
}

function rowsUnlessGone(
  file: DatabaseReader,
  table: StoredTable,
  watermark: number,
  nowMs: number,
): readonly (readonly CellValue[])[] | null {
  try {
    return [...pastRows(file, table, { watermark, receivedMs: 0 }, nowMs)];
  } catch (thrown) {
    if (thrown instanceof RockpoolError && thrown.code === 'history-moment-gone') return null;
    throw thrown;
  }
}

function nameOf(table: StoredTable, columnId: number): string {
  return String(table.valueById.get(columnId)?.name);
}

function rowsOf(sql: SqliteFile): Moment {
  const names = sql
    .all(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'rockpool%' AND name NOT LIKE 'sqlite%'",
    )
    .map(([name]) => String(name));
  return new Map(
    names.map((name) => {
      const columns = sql.all(`SELECT name FROM pragma_table_info('${name}')`).map(([column]) => String(column));
      const rows = sql.all(`SELECT * FROM "${name}"`).map((row): [string, Row] => {
        const values = Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null]));
        const { id, ...rest } = values;
        return [String(id), rest];
      });
      return [name, new Map(rows)];
    }),
  );
}

/** Whether two versions have the same values. A migration in between changes nothing. */
function isSame(a: Row | undefined, b: Row | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Object.keys(a).every((name) => a[name] === b[name]);
}
