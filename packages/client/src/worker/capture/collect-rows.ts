import { RockpoolError, type CellValue, type SessionRowReader } from '@rockpool/shared';
import type { CaptureTable } from './capture-table.ts';
import type { ChangeCollector } from './captured-changes.ts';
import { requireSendable } from './sendable-value.ts';

/**
 * Reads a session's rows of one table into the collector. Throws `value-invalid` for a new value that cannot be sent,
 * and `key-invalid` for a changed key that SQLite considers equal to the old one.
 */
export function collectRows(table: CaptureTable, collector: ChangeCollector): SessionRowReader {
  const columnName = (position: number): string => table.columns[position]?.name ?? '';
  const requireAllSendable = (record: readonly (CellValue | undefined)[]): void => {
    for (let position = 0; position < record.length; position++) {
      const value = record[position];
      if (value !== undefined) requireSendable(value, table.schema.name, columnName(position));
    }
  };
  /**
   * A session reports a changed key as a delete and an insert, unless SQLite considers both keys equal, by collation or
   * because `1.0` equals `1`. Other devices would see two keys.
   */
  const requireSameKey = (after: readonly (CellValue | undefined)[]): void => {
    for (const position of table.keyPositions) {
      if (after[position] !== undefined)
        throw new RockpoolError('key-invalid', {
          table: table.schema.name,
          column: columnName(position),
          problem: 'equal to SQLite',
        });
    }
  };
  return {
    insert(after): void {
      requireAllSendable(after);
      collector.insert(table, after);
    },
    delete: (before) => collector.delete(table, before),
    update(before, after): void {
      requireAllSendable(after);
      requireSameKey(after);
      collector.update(table, before, after);
    },
    columnName,
  };
}
