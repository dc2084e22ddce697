import {
  bytesToHex,
  keyColumns,
  keyMatchSql,
  keyToString,
  quoteName,
  RockpoolError,
  type CellValue,
  type TableSchema,
} from '@rockpool/shared';
import { leastStage, type ChangeSyncState, type RowSyncState } from '../../rpc/row-sync-state.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { ChangesetSources } from './decoded-changeset.ts';

export interface RowSyncStateParts extends ChangesetSources {
  readonly connection: Connection;
}

// Limits the decoding of admitted changesets to half a second in the worst case. An admitted changeset with more than
// this many newer ones is omitted; pending and rejected ones never are.
const MAX_CHANGESETS = 5_000;

/**
 * How far the changes of a row have come, from the database alone. Only the sync engine can tell which
 * changesets are being sent; the database counts them as pending.
 */
export function rowSyncState(parts: RowSyncStateParts, table: TableSchema, given: readonly SqlValue[]): RowSyncState {
  const key = toKey(table, given);
  const changes = changesOf(parts, table, keyToString(key));
  const conflicts = conflictsOf(parts.connection, table, key);
  return {
    stage: leastStage(changes) ?? (rowExists(parts.connection, table, key) ? 'delivered' : 'none'),
    changes,
    conflicts,
  };
}

function changesOf(
  { changelog, outbox, rejected }: RowSyncStateParts,
  table: TableSchema,
  keyText: string,
): ChangeSyncState[] {
  const lastAckedSequence = outbox.lastAckedSequence();
  const rejections = rejected.list();
  const reasons = new Map(rejections.map(({ changeset, error }) => [changeset.sequence, error]));
  const first = Math.min(lastAckedSequence + 1, changelog.head().sequence - MAX_CHANGESETS);
  const older = rejections.flatMap(({ changeset }) => (changeset.sequence < first ? [changeset] : []));
  const changes: ChangeSyncState[] = [];
  for (const { sequence, writtenMs, groups } of concat(older, changelog.readAfter(first - 1))) {
    const touches = groups.some(
      ({ tableId, keys, rowCount }) => tableId === table.id && hasKey(keys, rowCount, keyText),
    );
    if (!touches) continue;
    const reason = reasons.get(sequence) ?? null;
    // A closed changeset no longer counts.
    if (reason === null && sequence <= lastAckedSequence && rejected.isClosed(sequence)) continue;
    changes.push({
      sequence,
      writtenMs,
      reason,
      stage: reason !== null ? 'rejected' : sequence > lastAckedSequence ? 'pending' : 'admitted',
    });
  }
  return changes;
}

function* concat<T>(first: Iterable<T>, second: Iterable<T>): Generator<T> {
  yield* first;
  yield* second;
}

function hasKey(keys: readonly (readonly CellValue[])[], rowCount: number, keyText: string): boolean {
  for (let row = 0; row < rowCount; row++)
    if (keyToString(keys.map((part) => part[row] as CellValue)) === keyText) return true;
  return false;
}

/** The API takes integers as numbers; keys contain them as bigint. */
function toKey(table: TableSchema, given: readonly SqlValue[]): CellValue[] {
  const columns = keyColumns(table);
  if (given.length !== columns.length)
    throw new RockpoolError('key-invalid', { table: table.name, parts: columns.length, given: given.length });
  return columns.map(({ type }, index) => {
    const part = given[index] as SqlValue;
    return typeof part === 'number' && type === 'integer' && Number.isInteger(part) ? BigInt(part) : part;
  });
}

function rowExists(connection: Connection, table: TableSchema, key: readonly CellValue[]): boolean {
  const statement = connection.prepare(`SELECT 1 FROM main.${quoteName(table.name)} WHERE ${keyMatchSql(table)}`);
  try {
    key.forEach((part, index) => statement.bindCell(index + 1, part));
    return statement.step();
  } finally {
    statement.release();
  }
}

function conflictsOf(connection: Connection, table: TableSchema, key: readonly CellValue[]): string[] {
  const sql = 'SELECT id FROM rockpool_conflict WHERE table_name = ? AND row_key = ? ORDER BY id';
  return connection.rows(sql, table.name, conflictLogKey(key)).map(([id]) => id as string);
}

/** A key in the form of the conflict log: integers as text, blobs as hex. */
function conflictLogKey(key: readonly CellValue[]): string {
  return JSON.stringify(
    key.map((part) => (typeof part === 'bigint' ? String(part) : part instanceof Uint8Array ? bytesToHex(part) : part)),
  );
}
