import { readSessionChangeset, type CellValue, type PartialRecord, type SessionRowReader } from '@rockpool/shared';

/** One row of a transaction. */
export interface StoredChange {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /**
   * In the order of the table's columns that are not generated. Undefined: an update left it as it was; of a delete all
   * but the key.
   */
  readonly values: PartialRecord;
}

/**
 * Reads what SQLite has told of a transaction, here or at another instance of the same store. Throws `internal` for
 * what it cannot have told.
 */
export function readStoredChanges(sessionChangeset: Uint8Array): StoredChange[] {
  const changes: StoredChange[] = [];
  readSessionChangeset(sessionChangeset, (table, isKey): SessionRowReader => ({
    insert: (values) => void changes.push({ table, kind: 'insert', values }),
    delete: (values) =>
      void changes.push({
        table,
        kind: 'delete',
        values: values.map((value, i) => (isKey[i] === true ? value : undefined)),
      }),
    update: (before, after) =>
      void changes.push({
        table,
        kind: 'update',
        values: after.map((value: CellValue | undefined, i) => (isKey[i] === true ? before[i] : value)),
      }),
    columnName: (position) => String(position),
  }));
  return changes;
}
