import type { CellValue, SessionRowReader } from '@rockpool/shared';
import type { CaptureTable } from './capture-table.ts';
import type { ChangeCollector } from './captured-changes.ts';
import { requireSendable } from './sendable-value.ts';

/** Collects what a session tells of one table. Throws `value-invalid` for a new value that can never be sent. */
export function collectRows(table: CaptureTable, collector: ChangeCollector): SessionRowReader {
  const columnName = (position: number): string => table.columns[position]?.name ?? '';
  const requireAllSendable = (record: readonly (CellValue | undefined)[]): void => {
    for (let position = 0; position < record.length; position++) {
      const value = record[position];
      if (value !== undefined) requireSendable(value, table.schema.name, columnName(position));
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
      collector.update(table, before, after);
    },
    columnName,
  };
}
