import {
  MAX_CHANGESET_BYTES,
  MAX_CHANGESET_ROWS,
  RockpoolError,
  type CellValue,
  type RowAtVersion,
  type WrittenRow,
  type WrittenRows,
} from '@rockpool/shared';
import { mergeJsonTexts } from '@rockpool/shared/document';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseReader } from '../store/database-file.ts';
import { notKept, requireKept } from './past-rows.ts';
import { requireHistory } from './read-history.ts';
import { VersionWalk, type WalkedVersion } from './version-walk.ts';

/** Selects transactions in the log that meet every condition. */
export interface WrittenRowsRequest {
  /** 32 hex digits. Null for any site. */
  readonly site: string | null;
  /** The principal. Null for any. */
  readonly author: string | null;
  /** The corrected time of writing, in ms since 1970. Null for no limit. */
  readonly fromMs: number | null;
  /** The latest time of writing, inclusive. Null for no limit. */
  readonly toMs: number | null;
  /** The watermark of one transaction. Null for any. */
  readonly version: number | null;
  /** Tables with a history. */
  readonly tables: readonly string[];
}

/** A version on the walk, and whether its transaction was selected. */
type Step = WalkedVersion & { readonly isChosen: boolean };

/**
 * Reads the rows of tables with a history that the selected transactions changed, each with and without what they
 * wrote. Throws `schema-unknown-table`, `history-not-kept`, `history-moment-gone` with the reason `not-kept` if
 * versions since the first transaction are missing, and `changeset-too-large` for more rows than one transaction can
 * restore.
 */
export function readWrittenRows(file: DatabaseReader, request: WrittenRowsRequest, nowMs: number): WrittenRows {
  const tables = request.tables.map((name) => requireHistory(file, name));
  const chosen = chosenWatermarks(file, request);
  return { upTo: [...chosen].at(-1) ?? 0, count: chosen.size, rows: rowsWrittenBy(file, tables, chosen, nowMs) };
}

/** `chosen` has watermarks, in ascending order. Throws like readWrittenRows. */
export function rowsWrittenBy(
  file: DatabaseReader,
  tables: readonly StoredTable[],
  chosen: ReadonlySet<number>,
  nowMs: number,
): WrittenRow[] {
  const [first] = chosen;
  if (first === undefined) return [];
  const rows: WrittenRow[] = [];
  let sizeBytes = 0;
  for (const table of tables) {
    requireKept(file, table, first - 1, nowMs);
    for (const key of keysSince(file, table, first)) {
      const row = writtenRow(file, table, key, chosen);
      if (row === null) continue;
      rows.push(row);
      sizeBytes += sizeOf(row.before);
      if (rows.length > MAX_CHANGESET_ROWS || sizeBytes > MAX_CHANGESET_BYTES)
        throw new RockpoolError('changeset-too-large', { maxRows: MAX_CHANGESET_ROWS, maxBytes: MAX_CHANGESET_BYTES });
    }
  }
  return rows;
}

/** The watermarks of the selected transactions, in ascending order. */
function chosenWatermarks(
  { sql, sites }: DatabaseReader,
  { site, author, fromMs, toMs, version }: WrittenRowsRequest,
): ReadonlySet<number> {
  const siteNumber = site === null ? null : sites.get(site)?.number;
  if (siteNumber === undefined) return new Set();
  const rows = sql.all(
    `SELECT watermark FROM rockpool_log
     WHERE (?1 IS NULL OR site_number = ?1) AND (?2 IS NULL OR principal = ?2)
       AND (?3 IS NULL OR stamp_us >= ?3) AND (?4 IS NULL OR stamp_us <= ?4) AND (?5 IS NULL OR watermark = ?5)
     ORDER BY watermark`,
    siteNumber === null ? null : BigInt(siteNumber),
    author,
    fromMs === null ? null : BigInt(fromMs) * 1000n,
    // The limit includes the whole millisecond, because a time of writing is shown in milliseconds.
    toMs === null ? null : BigInt(toMs) * 1000n + 999n,
    version === null ? null : BigInt(version),
  );
  return new Set(rows.map(([watermark]) => Number(watermark)));
}

/** The first insert of a row has no entry of its own, so rows of later entries are included. */
function keysSince({ sql }: DatabaseReader, { schema }: StoredTable, watermark: number): Uint8Array[] {
  return sql
    .all(
      `SELECT key FROM rockpool_history WHERE table_id = ?1 AND watermark >= ?2
       UNION SELECT key FROM rockpool_row_version WHERE table_id = ?1 AND watermark >= ?2`,
      BigInt(schema.id),
      BigInt(watermark),
    )
    .map(([key]) => key as Uint8Array);
}

/** Null if the chosen transactions created no version of the row, or left it unchanged. */
function writtenRow(
  file: DatabaseReader,
  table: StoredTable,
  key: Uint8Array,
  chosen: ReadonlySet<number>,
): WrittenRow | null {
  const [first = 0] = chosen;
  const walk = new VersionWalk(file, table, key, -Infinity);
  const newestFirst: Step[] = [];
  for (const version of walk.versions()) {
    if (version.watermark < first) break;
    newestFirst.push({ ...version, isChosen: chosen.has(version.watermark) });
  }
  if (walk.missing !== null && walk.missing >= first)
    throw notKept(file, table, walk.missing === Infinity ? null : walk.missing);
  // Later writes by others are kept, so undoing begins at the last selected step.
  const last = newestFirst.findIndex(({ isChosen }) => isChosen);
  if (last < 0) return null;
  const steps = sinceOthersMadeIt(newestFirst.slice(last));
  const after = steps[0]?.kind === 'delete' ? null : afterOf(table, steps);
  const before = existedBefore(steps) ? beforeOf(table, steps) : null;
  if (after === null && before === null) return null;
  return { tableId: table.schema.id, key, after, before };
}

/** Omits the steps before others deleted or inserted the row, because their values have no effect now. */
function sinceOthersMadeIt(steps: readonly Step[]): readonly Step[] {
  const end = steps.findIndex(({ kind, isChosen }) => kind !== 'update' && !isChosen);
  return end < 0 ? steps : steps.slice(0, end);
}

function touches({ kind, changed }: Step, columnId: number): boolean {
  return kind !== 'update' || changed.has(columnId);
}

/** Whether the row existed before the selected transactions. `steps` begin with the last selected one, newest first. */
function existedBefore(steps: readonly Step[]): boolean {
  const births = steps.filter(({ kind }) => kind !== 'update');
  const firstOfRun = runOf(births).at(-1);
  return firstOfRun === undefined || firstOfRun.kind === 'delete';
}

/** The selected steps before the first one that is not selected. */
function runOf(steps: readonly Step[]): readonly Step[] {
  const end = steps.findIndex(({ isChosen }) => !isChosen);
  return end < 0 ? steps : steps.slice(0, end);
}

/** Every run of selected steps that touch a column, newest first. */
function runsOf(steps: readonly Step[], columnId: number): (readonly Step[])[] {
  const runs: Step[][] = [];
  let isInRun = false;
  for (const step of steps) {
    if (!touches(step, columnId)) continue;
    if (step.isChosen && isInRun) runs.at(-1)?.push(step);
    else if (step.isChosen) runs.push([step]);
    isInRun = step.isChosen;
  }
  return runs;
}

function afterOf(table: StoredTable, steps: readonly Step[]): RowAtVersion {
  return new Map(
    table.columnIds.map((columnId) => {
      const [run] = runsOf(steps, columnId);
      return [columnId, (run?.[0] ?? (steps[0] as Step)).after(columnId)];
    }),
  );
}

function beforeOf(table: StoredTable, steps: readonly Step[]): RowAtVersion {
  const isDeleted = steps[0]?.kind === 'delete';
  const counters = new Set(table.schema.merge.counters);
  const names = new Map(table.schema.columns.map(({ id, name }) => [id, name]));
  return new Map(
    table.columnIds.map((columnId): [number, CellValue] => {
      const runs = runsOf(steps, columnId);
      const [run] = runs;
      if (run === undefined) return [columnId, (steps[0] as Step)[isDeleted ? 'before' : 'after'](columnId)];
      const rule = table.documents.get(columnId);
      if (!isDeleted && counters.has(names.get(columnId) ?? '')) return [columnId, withoutAdditions(runs, columnId)];
      if (!isDeleted && rule !== undefined)
        return [columnId, withoutEdits(runs, columnId, (from, to, text) => mergeJsonTexts(from, to, text, rule))];
      return [columnId, (run.at(-1) as Step).before(columnId)];
    }),
  );
}

/** Additions by others in between are kept. */
function withoutAdditions(runs: readonly (readonly Step[])[], columnId: number): CellValue {
  const [run] = runs as [readonly Step[]];
  let value = (run[0] as Step).after(columnId);
  for (const step of runs.flat()) {
    const [from, to] = [step.before(columnId), step.after(columnId)];
    // Subtracts nothing for an insert, which has no value before it.
    if (typeof value !== 'bigint' || typeof from !== 'bigint' || typeof to !== 'bigint')
      return (run.at(-1) as Step).before(columnId);
    value -= to - from;
  }
  return value;
}

/** Edits by others in between are kept. */
function withoutEdits(
  runs: readonly (readonly Step[])[],
  columnId: number,
  merge: (from: string, to: string, text: string) => string,
): CellValue {
  const [run] = runs as [readonly Step[]];
  let text = (run[0] as Step).after(columnId);
  for (const edits of runs) {
    const [from, to] = [(edits[0] as Step).after(columnId), (edits.at(-1) as Step).before(columnId)];
    if (typeof text !== 'string' || typeof from !== 'string' || typeof to !== 'string')
      return (run.at(-1) as Step).before(columnId);
    text = merge(from, to, text);
  }
  return text;
}

function sizeOf(row: RowAtVersion): number {
  let size = 0;
  for (const value of row?.values() ?? [])
    size += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
  return size;
}
