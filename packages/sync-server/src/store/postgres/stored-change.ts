import { readSessionChangeset, type CellValue, type PartialRecord, type SessionRowReader } from '@rockpool/shared';

/** One changed row of a transaction. */
export interface StoredChange {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /**
   * Values in the order of the table's columns, without generated ones. Undefined for a column that an update left
   * unchanged, and for every column of a delete outside the key.
   */
  readonly values: PartialRecord;
}

/**
 * Reads a changeset of SQLite's session extension, recorded here or at another instance of the same store. Throws
 * `internal` if it is malformed.
 */
export function readStoredChanges(sessionChangeset: Uint8Array): StoredChange[] {
  const changes: StoredChange[] = [];
  forEachStoredChange(sessionChangeset, (change) => void changes.push(change));
  return changes;
}

/** Like `readStoredChanges`, for one change at a time. */
export function forEachStoredChange(sessionChangeset: Uint8Array, onChange: (change: StoredChange) => void): void {
  readSessionChangeset(sessionChangeset, (table, isKey): SessionRowReader => ({
    insert: (values) => onChange({ table, kind: 'insert', values }),
    delete: (values) =>
      onChange({
        table,
        kind: 'delete',
        values: values.map((value, i) => (isKey[i] === true ? value : undefined)),
      }),
    update: (before, after) =>
      onChange({
        table,
        kind: 'update',
        values: after.map((value: CellValue | undefined, i) => (isKey[i] === true ? before[i] : value)),
      }),
    columnName: (position) => String(position),
  }));
}
