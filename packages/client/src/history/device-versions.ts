import {
  bytesToHex,
  decodeBefore,
  decodeChangesetBody,
  decodeEarlierSites,
  decodeOrigin,
  documentColumns,
  encodeKey,
  stampToMs,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type ChangesetOrigin,
} from '@rockpool/shared';
import type { ColumnChange, RowVersion } from '../interface/row-history.ts';
import type { RowSyncState } from '../rpc/row-sync-state.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlRow } from '../rpc/sql-value.ts';
import { toSqlValue, type HistoryRow } from './history-row.ts';

/** A version of this device's changelog. */
export interface DeviceVersion extends RowVersion {
  readonly isPending: boolean;
}

export interface DeviceSource {
  readonly query: (statement: SqlStatement) => Promise<SqlRow[]>;
  readonly syncState: () => Promise<RowSyncState>;
  /** The principal that the app names; null if it names none. */
  readonly principal: string | null;
}

/** The versions of a row that this device has. */
export interface DeviceHistory {
  /** Newest first. */
  readonly versions: readonly DeviceVersion[];
  /** Whether this device wrote the version, under its site id or an earlier one. */
  readonly isOwn: (version: VersionId) => boolean;
}

export type VersionId = Pick<RowVersion, 'siteId' | 'sequence'>;

/**
 * Reads the versions of a row that this device's transactions created in the last week. Omits rejected versions, and
 * admitted ones that are packed.
 */
export async function deviceHistory(row: HistoryRow, source: DeviceSource): Promise<DeviceHistory> {
  const { changes } = await source.syncState();
  const counted = changes.filter(({ stage }) => stage !== 'rejected');
  const sites = await source.query({
    sql: "SELECT value FROM rockpool_meta WHERE key IN ('site_id', 'earlier_sites') ORDER BY key DESC",
    params: [],
  });
  const [own, earlier] = sites.map(({ value }) => value as Uint8Array);
  const siteId = bytesToHex(own ?? new Uint8Array());
  const lasts = (earlier === undefined ? [] : decodeEarlierSites(earlier)).map(({ last }) => idOf(last));
  const isOwn = (version: VersionId): boolean =>
    version.siteId === siteId ||
    lasts.some((last) => last.siteId === version.siteId && version.sequence <= last.sequence);
  if (counted.length === 0) return { versions: [], isOwn };
  const stored = await source.query({
    sql: 'SELECT sequence, stamp_us, shift_us, body, before, origin FROM rockpool_changelog WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY sequence DESC',
    params: [JSON.stringify(counted.map(({ sequence }) => sequence))],
  });
  const versions = stored.flatMap((changeset): DeviceVersion[] => {
    const sequence = changeset['sequence'] as number;
    const found = changeOf(row, changeset['body'] as Uint8Array, changeset['before'] as Uint8Array);
    if (found === null) return [];
    return [
      {
        ...found,
        ...(sequence > 0 ? { siteId, sequence } : keptId(changeset['origin'] as Uint8Array | null)),
        isPending: counted.some((change) => change.sequence === sequence && change.stage !== 'admitted'),
        version: null,
        author: source.principal,
        isOwn: true,
        writtenMs: stampToMs((changeset['stamp_us'] as number) + (changeset['shift_us'] as number)),
        receivedMs: null,
        names: [],
        // A migration ends all tabs of older versions of the app, so recent versions have the current columns.
        laterColumns: [],
      },
    ];
  });
  return { versions, isOwn };
}

function idOf({ siteId, sequence }: ChangesetOrigin): VersionId {
  return { siteId: bytesToHex(siteId), sequence };
}

/**
 * The id of a version that this device sent under an earlier site id. Unknown in a file that has changed its site id
 * before it stored origins.
 */
function keptId(origin: Uint8Array | null): VersionId {
  return origin === null ? { siteId: '', sequence: 0 } : idOf(decodeOrigin(origin));
}

function changeOf(row: HistoryRow, body: Uint8Array, before: Uint8Array): Pick<RowVersion, 'kind' | 'changes'> | null {
  const { groups } = decodeChangesetBody(body);
  const old = decodeBefore(before, groups);
  for (const [index, group] of groups.entries()) {
    if (group.tableId !== row.table.id) continue;
    for (let at = 0; at < group.rowCount; at++) {
      if (!isRow(row, group, at)) continue;
      return { kind: group.kind, changes: changesOf(row, group, old[index] as BeforeGroup, at) };
    }
  }
  return null;
}

function isRow({ keyBytes }: HistoryRow, { keys }: ChangeGroup, at: number): boolean {
  const bytes = encodeKey(keys.map((part) => part[at] as CellValue));
  return bytes.length === keyBytes.length && bytes.every((byte, i) => byte === keyBytes[i]);
}

function changesOf({ table }: HistoryRow, group: ChangeGroup, before: BeforeGroup, at: number): ColumnChange[] {
  const documents = documentColumns(table);
  const counters = new Set(table.merge.counters);
  const valueIn = ({ columnIds, values }: BeforeGroup, columnId: number): CellValue =>
    values[columnIds.indexOf(columnId)]?.[at] ?? null;
  return table.columns.flatMap(({ id, name }): ColumnChange[] => {
    if (!group.columnIds.includes(id) && !before.columnIds.includes(id)) return [];
    if (documents.has(id)) return [{ column: name, before: null, after: null, isDocument: true }];
    const old = valueIn(before, id);
    const sent = valueIn(group, id);
    // An update of a counter carries its difference.
    const after =
      group.kind === 'update' && counters.has(name) && typeof old === 'bigint' && typeof sent === 'bigint'
        ? old + sent
        : sent;
    return [{ column: name, before: toSqlValue(old), after: toSqlValue(after), isDocument: false }];
  });
}
