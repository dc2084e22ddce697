import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import type { ChangeGroup } from '#shared/index.ts';
import { householdSchema } from './household-schema.ts';

/**
 * Returns a changeset that was rejected for a foreign key that it cannot violate: it only inserts child rows with a
 * NULL in the foreign key.
 */
export function refusedWithoutReason(database: OpenDatabase): string | null {
  for (const { changeset, error } of database.rejected.list()) {
    if (error.code !== 'constraint-foreign-key') continue;
    const { table: name, foreignTable } = error.fields;
    const child = householdSchema.tables.find((table) => table.name === name);
    const parent = householdSchema.tables.find((table) => table.name === foreignTable);
    const key = child?.foreignKeys.find((one) => one.foreignTable === foreignTable);
    if (child === undefined || parent === undefined || key === undefined) continue;
    const columnIds = key.columns.map((column) => child.columns.find((one) => one.name === column)?.id);
    const canBreak = ({ tableId, kind, columnIds: written, values, rowCount }: ChangeGroup): boolean => {
      if (tableId === parent.id) return kind !== 'insert';
      if (tableId !== child.id || kind === 'delete') return false;
      if (kind === 'update') return true;
      const parts = columnIds.map((id) => values[written.indexOf(id ?? -1)]);
      return Array.from({ length: rowCount }, (_, row) => row).some((row) =>
        parts.every((part) => part === undefined || part[row] !== null),
      );
    };
    if (!changeset.groups.some(canBreak))
      return `changeset ${changeset.sequence} was refused for the foreign key of ${child.name}, in which it has NULL`;
  }
  return null;
}
