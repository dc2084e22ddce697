import {
  RockpoolError,
  type CellValue,
  type HistoryPage,
  type HistoryPageFormat,
  type RowAtVersion,
  type StoredRowVersion,
  type VersionChange,
} from '@rockpool/shared';
import { laterColumns } from '../log/column-births.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseReader } from '../store/database-file.ts';
import type { ChangesetAuthor } from './past-moment.ts';
import { keptSinceMs, VersionWalk, type WalkedVersion } from './version-walk.ts';

/** A row of a table. */
export interface RowOfHistory {
  readonly table: string;
  /** See encodeKey. */
  readonly key: Uint8Array;
}

export interface HistoryPageRequest extends RowOfHistory {
  /** The page begins below this watermark. Null if it begins with the newest version. */
  readonly before: number | null;
  /** The maximum number of versions in the page. */
  readonly limit: number;
  /** Only versions that changed this column. Null for any column. */
  readonly column: string | null;
  /** See encodeHistoryPage. */
  readonly format: HistoryPageFormat;
}

export interface RowAtVersionRequest extends RowOfHistory {
  /** The watermark of the version, or its changeset. */
  readonly version: number | ChangesetAuthor;
}

export const MAX_VERSIONS_PER_PAGE = 200;
// A page also ends at this many bytes of values, because a row may have large ones.
const MAX_PAGE_BYTES = 1024 * 1024;

/**
 * Returns versions of a row, newest first. Throws `schema-unknown-table`, `history-not-kept` for a table without a
 * history, and `key-invalid`.
 */
export function readHistory(file: DatabaseReader, request: HistoryPageRequest, nowMs: number): HistoryPage {
  const table = requireHistory(file, request.table);
  const columnId = request.column === null ? null : columnIdNamed(table, request.column);
  const versions: StoredRowVersion[] = [];
  const later = laterColumns(file.sql, table);
  let sizeBytes = 0;
  let nextBefore: number | null = null;
  const walk = new VersionWalk(file, table, request.key, keptSinceMs(table, nowMs));
  for (const version of walk.versions()) {
    if (request.before !== null && version.watermark >= request.before) continue;
    const changed = [...version.changed].filter((id) => existedAt(later, id, version.watermark));
    if (columnId !== null && !changed.includes(columnId)) continue;
    if (versions.length >= Math.min(request.limit, MAX_VERSIONS_PER_PAGE) || sizeBytes > MAX_PAGE_BYTES) {
      nextBefore = versions.at(-1)?.watermark ?? null;
      break;
    }
    const { watermark, kind, author } = version;
    const changes = changesOf(table, version, changed);
    sizeBytes += changes.reduce((sum, change) => sum + valueBytes(change), 0);
    versions.push({ watermark, kind, ...author, changes });
  }
  return {
    versions,
    nextBefore,
    isTruncated: walk.isTruncated,
    laterColumns: [...later].map(([id, until]) => ({ columnId: id, until })),
  };
}

/**
 * Returns the row after a version, without the columns that did not exist at that time. Throws like readHistory, and
 * `history-version-gone` for a version that is pruned or belongs to a different row. Its fields `oldestVersion` and
 * `oldestMs` name the oldest version that is kept and when the server received it.
 */
export function readRowAtVersion(file: DatabaseReader, request: RowAtVersionRequest, nowMs: number): RowAtVersion {
  const table = requireHistory(file, request.table);
  let oldest: WalkedVersion | null = null;
  for (const version of new VersionWalk(file, table, request.key, keptSinceMs(table, nowMs)).versions()) {
    const { kind, after } = version;
    oldest = version;
    if (!isVersion(version, request.version)) continue;
    if (kind === 'delete') return null;
    const later = laterColumns(file.sql, table);
    const columnIds = table.columnIds.filter((id) => existedAt(later, id, version.watermark));
    return new Map(columnIds.map((columnId) => [columnId, after(columnId)]));
  }
  throw versionGone(request, oldest);
}

/** Whether a column existed at a watermark. */
function existedAt(later: ReadonlyMap<number, number>, columnId: number, watermark: number): boolean {
  return watermark > (later.get(columnId) ?? 0);
}

function isVersion({ watermark, author }: WalkedVersion, version: RowAtVersionRequest['version']): boolean {
  if (typeof version === 'number') return watermark === version;
  return author.site === version.site && author.sequence === version.sequence;
}

/** Null if the row has no version, or if the oldest one must not be named. */
export function versionGone(
  { table, version }: Pick<RowAtVersionRequest, 'table' | 'version'>,
  oldest: WalkedVersion | null,
): RockpoolError {
  return new RockpoolError('history-version-gone', {
    table,
    ...(typeof version === 'number' ? { version } : version),
    oldestVersion: oldest?.watermark ?? null,
    oldestMs: oldest?.author.receivedMs ?? null,
  });
}

/** Throws `schema-unknown-table`, and `history-not-kept` for a table without a history. */
export function requireHistory(file: DatabaseReader, name: string): StoredTable {
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

function changesOf(table: StoredTable, { before, after }: WalkedVersion, changed: readonly number[]): VersionChange[] {
  return changed.map((columnId) => ({
    columnId,
    values: table.documents.has(columnId) ? null : { before: before(columnId), after: after(columnId) },
  }));
}

function valueBytes({ values }: VersionChange): number {
  const size = (value: CellValue): number =>
    typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
  return values === null ? 0 : size(values.before) + size(values.after);
}
