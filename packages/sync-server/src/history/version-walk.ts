import {
  decodeKey,
  RockpoolError,
  SplicedText,
  stampToMs,
  type CellValue,
  type ChangeKind,
  type StoredRowVersion,
} from '@rockpool/shared';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseReader } from '../store/database-file.ts';
import { highestWatermark, readColumnValues, readKnownRow, type KnownRow } from '../store/row-store.ts';
import { columnDefaults } from './column-defaults.ts';
import { decodeHistoryEntry, type HistoryEntry, type ReplacedValue } from './history-entry.ts';
import { isFirstInsert } from './record-history.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Versions of a table that the server received before this time have expired. */
export function keptSinceMs({ schema }: StoredTable, nowMs: number): number {
  const retainedDays = schema.history?.retainedDays ?? null;
  return retainedDays === null ? -Infinity : nowMs - retainedDays * DAY_MS;
}

type Author = Pick<StoredRowVersion, 'site' | 'sequence' | 'principal' | 'writtenMs' | 'receivedMs'>;

/** A version on the walk. */
export interface WalkedVersion {
  readonly watermark: number;
  readonly kind: ChangeKind;
  readonly author: Author;
  /** The columns that changed. */
  readonly changed: ReadonlySet<number>;
  /** The value after the version; NULL after a delete. */
  readonly after: (columnId: number) => CellValue;
  /** The value that it replaced; NULL before an insert. */
  readonly before: (columnId: number) => CellValue;
}

/**
 * Walks from a row back to its first insert, undoing one version after another. Each entry names the version before it.
 * A missing version ends the walk: it was pruned, or was written while the table declared no history.
 */
export class VersionWalk {
  /**
   * The watermark of the missing version that ended the walk; Infinity if it is not known. Null if the walk has not
   * ended, or it ended at the first insert of the row.
   */
  missing: number | null = null;
  private readonly file: DatabaseReader;
  private readonly table: StoredTable;
  private readonly keyBytes: Uint8Array;
  private readonly keptSinceMs: number;
  private values = new Map<number, CellValue | SplicedText>();
  private isThereNow = false;

  /** Versions that the server received before `keptSinceMs` count as missing. */
  constructor(file: DatabaseReader, table: StoredTable, keyBytes: Uint8Array, keptSinceMs: number) {
    this.file = file;
    this.table = table;
    this.keyBytes = keyBytes;
    this.keptSinceMs = keptSinceMs;
  }

  /** Whether the walk has ended before the first insert of the row. */
  get isTruncated(): boolean {
    return this.missing !== null;
  }

  *versions(): Generator<WalkedVersion> {
    const known = this.readNow();
    this.isThereNow = known?.row.deleted === null;
    // The watermark that the next entry must have. Null if the entry of any version that deleted the row fits, because
    // its tombstone is pruned.
    let next: number | null = known === undefined ? null : highestWatermark(known);
    let isFirst = known !== undefined && isFirstInsert(known);
    for (const { watermark, entry } of this.entries()) {
      if (watermark !== next) {
        if (next !== null) {
          if (!isFirst) break;
          if (!(yield* this.step(next, FIRST_INSERT))) return;
        }
        // Continues after a gap only if the row was deleted, its tombstone was pruned, and the row was inserted again.
        if (!this.isGoneAfter(watermark)) {
          this.missing = Infinity;
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
    else this.missing = next;
  }

  /**
   * Returns the value columns of the row at a watermark, or null if it did not exist then. Call it instead of
   * `versions`. The result is not valid if `missing` is above the watermark.
   */
  at(watermark: number): ReadonlyMap<number, CellValue> | null {
    const { table } = this;
    let older: WalkedVersion | null = null;
    for (const version of this.versions()) {
      if (version.watermark <= watermark) break;
      older = version;
    }
    if (older === null ? !this.isThereNow : older.kind === 'insert') return null;
    const valueOf = older?.before ?? ((columnId) => plain(this.values.get(columnId)));
    return new Map(table.columnIds.map((columnId) => [columnId, valueOf(columnId)]));
  }

  /**
   * Whether the row did not exist after this version. The versions of a deleted row replace nothing, and neither do
   * those of a row whose parent was deleted before it arrived. An update may replace nothing too, so the version before
   * it decides.
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

  /** Yields one version and undoes it. Returns false at the end of the walk. */
  private *step(watermark: number, { kind, replaced }: HistoryEntry): Generator<WalkedVersion, boolean> {
    const author = this.authorOf(watermark);
    if (author === null || author.receivedMs < this.keptSinceMs) {
      this.missing = watermark;
      return false;
    }
    const newer = this.values;
    const older = new Map<number, CellValue | SplicedText>(kind === 'update' ? newer : []);
    // The row was deleted before a migration added a column.
    if (kind === 'delete' && this.table.columnIds.some((id) => !replaced.has(id)))
      for (const [columnId, value] of columnDefaults(this.table)) older.set(columnId, value);
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
  if (then === null) throw new RockpoolError('storage-corrupt', { problem: 'a version does not match its row' });
  return then;
}
