import {
  decodeKey,
  RockpoolError,
  SplicedText,
  stampToMs,
  type CellValue,
  type ChangeKind,
  type HistoryPage,
  type RowAtVersion,
  type StoredRowVersion,
  type VersionChange,
} from '@rockpool/shared';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { highestWatermark, readColumnValues, readKnownRow, type KnownRow } from '../store/row-store.ts';
import { decodeHistoryEntry, type HistoryEntry, type ReplacedValue } from './history-entry.ts';
import { isFirstInsert } from './record-history.ts';

/** A row of a table. */
export interface RowOfHistory {
  readonly table: string;
  /** See encodeKey. */
  readonly key: Uint8Array;
}

export interface HistoryPageRequest extends RowOfHistory {
  /** The page begins below this watermark. Null: with the newest version. */
  readonly before: number | null;
  /** The most versions in the page. */
  readonly limit: number;
  /** Only versions that changed this column. Null: any column. */
  readonly column: string | null;
}

export interface RowAtVersionRequest extends RowOfHistory {
  /** The watermark of the version. */
  readonly version: number;
}

export const MAX_VERSIONS_PER_PAGE = 200;
// A page also ends here, in bytes of values, because a row may have large ones.
const MAX_PAGE_BYTES = 1024 * 1024;
const DAY_MS = 24 * 3600 * 1000;

/**
 * Returns versions of a row, newest first. Throws `schema-unknown-table`, `history-not-kept` for a table without a
 * history, and `key-invalid`.
 */
export function readHistory(file: DatabaseFile, request: HistoryPageRequest, nowMs: number): HistoryPage {
  const table = requireHistory(file, request.table);
  const columnId = request.column === null ? null : columnIdNamed(table, request.column);
  const versions: StoredRowVersion[] = [];
  let sizeBytes = 0;
  let nextBefore: number | null = null;
  const walk = new VersionWalk(file, table, request.key, nowMs);
  for (const version of walk.versions()) {
    if (request.before !== null && version.watermark >= request.before) continue;
    if (columnId !== null && !version.changed.has(columnId)) continue;
    if (versions.length >= Math.min(request.limit, MAX_VERSIONS_PER_PAGE) || sizeBytes > MAX_PAGE_BYTES) {
      nextBefore = versions.at(-1)?.watermark ?? null;
      break;
    }
    const { watermark, kind, author } = version;
    const changes = changesOf(table, version);
    sizeBytes += changes.reduce((sum, change) => sum + valueBytes(change), 0);
    versions.push({ watermark, kind, ...author, changes });
  }
  return { versions, nextBefore, isTruncated: walk.isTruncated };
}

/**
 * Returns a row as a version left it. Throws as readHistory, and `history-version-gone` for a version that is pruned or
 * is not one of this row.
 */
export function readRowAtVersion(file: DatabaseFile, request: RowAtVersionRequest, nowMs: number): RowAtVersion {
  const table = requireHistory(file, request.table);
  for (const { watermark, kind, after } of new VersionWalk(file, table, request.key, nowMs).versions()) {
    if (watermark < request.version) break;
    if (watermark > request.version) continue;
    return kind === 'delete' ? null : new Map(table.columnIds.map((columnId) => [columnId, after(columnId)]));
  }
  throw new RockpoolError('history-version-gone', { table: request.table, version: request.version });
}

function requireHistory(file: DatabaseFile, name: string): StoredTable {
  const table = file.tableByName.get(name);
  if (table === undefined || table.system) throw new RockpoolError('schema-unknown-table', { table: name });
  if (table.schema.history === undefined) throw new RockpoolError('history-not-kept', { table: name });
  return table;
}

function columnIdNamed(table: StoredTable, name: string): number {
  const column = table.values.find((candidate) => candidate.name === name);
  if (column === undefined)
    throw new RockpoolError('schema-unknown-column', { table: table.schema.name, column: name });
  return column.id;
}

type Author = Pick<StoredRowVersion, 'site' | 'sequence' | 'principal' | 'writtenMs' | 'receivedMs'>;

/** A version on the walk. */
interface WalkedVersion {
  readonly watermark: number;
  readonly kind: ChangeKind;
  readonly author: Author;
  /** The columns that changed. */
  readonly changed: ReadonlySet<number>;
  /** The value that the version left; NULL after a delete. */
  readonly after: (columnId: number) => CellValue;
  /** The value that it replaced; NULL before an insert. */
  readonly before: (columnId: number) => CellValue;
}

/**
 * Walks from a row to its first insert, and undoes one version after another. Each entry names the version before it. A
 * version that is missing ends the walk: it is pruned, or was made while the table declared no history.
 */
class VersionWalk {
  /** Whether the walk has ended before the first insert of the row. */
  isTruncated = false;
  private readonly file: DatabaseFile;
  private readonly table: StoredTable;
  private readonly keyBytes: Uint8Array;
  private readonly keptSinceMs: number;
  private values = new Map<number, CellValue | SplicedText>();

  constructor(file: DatabaseFile, table: StoredTable, keyBytes: Uint8Array, nowMs: number) {
    const retainedDays = table.schema.history?.retainedDays ?? null;
    this.file = file;
    this.table = table;
    this.keyBytes = keyBytes;
    this.keptSinceMs = retainedDays === null ? -Infinity : nowMs - retainedDays * DAY_MS;
  }

  *versions(): Generator<WalkedVersion> {
    const known = this.readNow();
    // The version that the next entry should be. Null: any that deleted the row, because its tombstone is forgotten.
    let next: number | null = known === undefined ? null : highestWatermark(known);
    let isFirst = known !== undefined && isFirstInsert(known);
    for (const { watermark, entry } of this.entries()) {
      if (watermark !== next) {
        if (next !== null) {
          if (!isFirst) break;
          if (!(yield* this.step(next, FIRST_INSERT))) return;
        }
        // A row may have been deleted, forgotten with its tombstone, and inserted again.
        if (!this.isGoneAfter(watermark)) {
          this.isTruncated = true;
          return;
        }
      }
      if (!(yield* this.step(watermark, entry))) return;
      next = entry.previous;
      isFirst = entry.previousIsFirst;
      if (next === 0) next = null;
    }
    if (next === null) return;
    if (isFirst) yield* this.step(next, FIRST_INSERT);
    else this.isTruncated = true;
  }

  /**
   * Whether the row did not exist after this version. The versions of a deleted row replace nothing, and neither do
   * those of a row that lost its parent before it arrived. An update may replace nothing too, so the version before it
   * decides.
   */
  private isGoneAfter(version: number): boolean {
    let next = version;
    for (const { watermark, entry } of this.entries()) {
      if (watermark > version) continue;
      if (watermark !== next) return false;
      if (entry.kind === 'delete' || entry.previous === 0) return true;
      if (entry.kind === 'insert' || entry.replaced.size > 0) return false;
      next = entry.previous;
    }
    return false;
  }

  /** Reads the row as it is now. */
  private readNow(): KnownRow | undefined {
    const key = decodeKey(this.keyBytes);
    if (key.length !== this.table.keys.length)
      throw new RockpoolError('key-invalid', { table: this.table.schema.name });
    const known = readKnownRow(this.file, this.table, key, this.keyBytes);
    if (known?.row.deleted === null) this.values = readColumnValues(this.file, this.table, key);
    return known;
  }

  private *entries(): Generator<{ readonly watermark: number; readonly entry: HistoryEntry }> {
    for (const [watermark, entry] of this.file.sql.all(
      'SELECT watermark, entry FROM rockpool_history WHERE table_id = ? AND key = ? ORDER BY watermark DESC',
      BigInt(this.table.schema.id),
      this.keyBytes,
    ))
      yield { watermark: Number(watermark), entry: decodeHistoryEntry(entry as Uint8Array) };
  }

  /** Yields one version, and undoes it. Returns false where the walk ends. */
  private *step(watermark: number, { kind, replaced }: HistoryEntry): Generator<WalkedVersion, boolean> {
    const author = this.authorOf(watermark);
    if (author === null || author.receivedMs < this.keptSinceMs) {
      this.isTruncated = true;
      return false;
    }
    const newer = this.values;
    const older = kind === 'insert' ? new Map<number, CellValue | SplicedText>() : new Map(newer);
    for (const [columnId, old] of replaced) older.set(columnId, undo(newer.get(columnId), old));
    const changed = new Set(kind === 'insert' ? this.table.columnIds : replaced.keys());
    if (kind !== 'update' || changed.size > 0)
      yield {
        watermark,
        kind,
        author,
        changed,
        after: (columnId) => (kind === 'delete' ? null : plain(newer.get(columnId))),
        before: (columnId) => plain(older.get(columnId)),
      };
    this.values = older;
    return true;
  }

  private authorOf(watermark: number): Author | null {
    const { sql, sites } = this.file;
    const row = sql.get(
      'SELECT site_number, sequence, stamp_us, principal, received_ms FROM rockpool_log WHERE watermark = ?',
      BigInt(watermark),
    );
    if (row === undefined) return null;
    const [siteNumber, sequence, stampUs, principal, receivedMs] = row;
    return {
      site: sites.siteOf(Number(siteNumber)),
      sequence: Number(sequence),
      principal: principal as string,
      writtenMs: stampToMs(Number(stampUs)),
      receivedMs: Number(receivedMs),
    };
  }
}

const FIRST_INSERT: HistoryEntry = { kind: 'insert', previous: 0, previousIsFirst: false, replaced: new Map() };

function plain(value: CellValue | SplicedText | undefined): CellValue {
  return value instanceof SplicedText ? value.toString() : (value ?? null);
}

function undo(now: CellValue | SplicedText | undefined, old: ReplacedValue): CellValue | SplicedText {
  if ('value' in old) return old.value;
  const text = now instanceof SplicedText ? now : typeof now === 'string' ? SplicedText.of(now) : null;
  const then = text?.splice(old.splice) ?? null;
  if (then === null) throw new RockpoolError('storage-corrupt', { problem: 'a version does not fit its row' });
  return then;
}

function changesOf(table: StoredTable, { changed, before, after }: WalkedVersion): VersionChange[] {
  return [...changed].map((columnId) => ({
    columnId,
    values: table.documents.has(columnId) ? null : { before: before(columnId), after: after(columnId) },
  }));
}

function valueBytes({ values }: VersionChange): number {
  const size = (value: CellValue): number =>
    typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
  return values === null ? 0 : size(values.before) + size(values.after);
}
