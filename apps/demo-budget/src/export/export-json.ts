import type { CountRow } from '../queries/export.ts';
import type { ExportProgress, Reader } from './export-csv.ts';
import { exportedTables } from './exported-tables.ts';

/** Identifies the file format and its version. */
export const exportFormat = 'rockpool-budget-1';

/**
 * Every row of every exported table as JSON: `{ format, exportedAtMs, tables: { accounts: [{ id, … }], … } }`, with the
 * column names of schema.ts. Integers beyond ±(2^53 − 1), which the app never writes, are strings. Everything is read
 * from one snapshot: a row whose account or category had only arrived later would make the file unusable.
 */
export async function exportJson(
  reader: Reader,
  nowMs: number,
  onProgress: (progress: ExportProgress) => void,
): Promise<Blob> {
  const names = exportedTables.map(({ name }) => name);
  const counts = await Promise.all(
    names.map((name) => reader.query<CountRow>(`SELECT count(*) AS count FROM "${name}"`)),
  );
  const totalCount = counts.reduce((sum, [row]) => sum + (row?.count ?? 0), 0);
  const rowsByTable = new Map(names.map((name): [string, string[]] => [name, []]));
  let writtenCount = 0;
  for await (const rows of reader.stream<ExportedRow>(everyRow)) {
    for (const { tableName, json } of rows) rowsByTable.get(tableName)?.push(json);
    writtenCount += rows.length;
    onProgress({ writtenCount, totalCount });
  }
  const tables = [...rowsByTable].map(([name, rows]) => `\n${JSON.stringify(name)}:[\n${rows.join(',\n')}]`);
  const head = `{"format":"${exportFormat}","exportedAtMs":${nowMs},"tables":{`;
  return new Blob([head, tables.join(','), '}}\n'], { type: 'application/json' });
}

interface ExportedRow {
  readonly tableName: string;
  readonly json: string;
}

/** All rows of all exported tables, each table in the order of its keys. */
const everyRow = exportedTables.map(rowsOfTable).join(' UNION ALL ');

function rowsOfTable({ name, columns }: (typeof exportedTables)[number]): string {
  const values = columns.map((column) => `'${column.name}', ${exactValue(column)}`);
  return `SELECT * FROM (SELECT '${name}' AS tableName, json_object(${values.join(', ')}) AS json FROM "${name}" ORDER BY id)`;
}

function exactValue({ name, type }: (typeof exportedTables)[number]['columns'][number]): string {
  return type === 'integer'
    ? `CASE WHEN "${name}" NOT BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER} THEN CAST("${name}" AS TEXT) ELSE "${name}" END`
    : `"${name}"`;
}
