import { RockpoolError, type CellValue, type SessionRowReader } from '@rockpool/shared';
import type { CaptureTable } from './capture-table.ts';
import type { ChangeCollector } from './captured-changes.ts';
import { requireSendable } from './sendable-value.ts';

/**
 * Collects what a session tells of one table. Throws `value-invalid` for a new value that can never be sent, and
 * `key-invalid` for a new key that SQLite takes for the old one.
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
   * A changed key comes as a delete and an insert, unless SQLite takes the new one for the old one: by its collation,
   * or `1.0` for `1`. To every other device they are two.
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
