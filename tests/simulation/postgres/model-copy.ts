import type { CellValue, Schema } from '#shared/index.ts';
import type { DatabaseFile } from '#sync-server/store/database-file.ts';
import { resyncFile } from '#sync-server/store/durability.ts';
import { OWN_META } from '#sync-server/store/postgres/load-copy.ts';
import { fromPostgres, type MirroredTable } from '#sync-server/store/postgres/mirrored-table.ts';
import { selectSql } from '#sync-server/store/postgres/postgres-store.ts';
import { insertRow, openCopyFile, WorkingCopy } from '#sync-server/store/postgres/working-copy.ts';
import { isOfDatabase, toDriver } from './model-tables.ts';
import type { PostgresModel } from './postgres-model.ts';

/** A working copy of what the model has committed. */
export function readModel(
  model: PostgresModel,
  tables: ReadonlyMap<string, MirroredTable>,
  schema: Schema,
  databaseId: string,
): WorkingCopy {
  const file = openCopyFile(':memory:', schema, databaseId);
  file.sql.exec(
    `DELETE FROM rockpool_meta WHERE name NOT IN (${OWN_META.map((name) => `'${name}'`).join()}); DELETE FROM rockpool_site`,
  );
  for (const table of tables.values()) for (const row of rowsOf(model, table, databaseId)) insertRow(file, table, row);
  resyncFile(file);
  const { head = 0, commitId = new Uint8Array() } = model.databases.get(databaseId) ?? {};
  return new WorkingCopy(file, tables, { head, commitId });
}

/** Null if the copy has the rows of the model. */
export function differenceFromModel(
  model: PostgresModel,
  tables: ReadonlyMap<string, MirroredTable>,
  { sql }: DatabaseFile,
  databaseId: string,
): string | null {
  for (const table of tables.values()) {
    const isOwn = (row: readonly CellValue[]): boolean =>
      table.name === 'rockpool_meta' && OWN_META.includes(String(row[0]));
    const stored = textsOf(rowsOf(model, table, databaseId));
    const copied = textsOf([...sql.all(selectSql(table))].filter((row) => !isOwn(row)));
    if (stored.join('\n') !== copied.join('\n'))
      return `${table.name} has ${stored.length} rows in PostgreSQL and ${copied.length} in a copy that followed it: ${
        stored.find((row, i) => row !== copied[i]) ?? copied.find((row, i) => row !== stored[i]) ?? ''
      }`;
  }
  return null;
}

function rowsOf(model: PostgresModel, { name, columns }: MirroredTable, databaseId: string): CellValue[][] {
  const stored = model.tables.get(name);
  if (stored === undefined) return [];
  const types = new Map(stored.columns.map((column) => [column.name, column.type]));
  return [...stored.rows]
    .filter(([key]) => isOfDatabase(key, databaseId))
    .map(([, row]) =>
      columns.map((column) =>
        fromPostgres(column, toDriver(types.get(column.name) ?? 'text', row.get(column.name) ?? null)),
      ),
    );
}

function textsOf(rows: readonly (readonly CellValue[])[]): string[] {
  return rows
    .map((row) =>
      row.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value))).join('|'),
    )
    .sort();
}
