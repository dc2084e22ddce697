import type { CountRow } from '../queries/export.ts';
import type { ExportProgress, Reader } from './export-csv.ts';
import { exportedTables } from './exported-tables.ts';

/** Identifies the file format and its version. */
export const exportFormat = 'rockpool-budget-1';

/**
 * Every row of every exported table as JSON: `{ format, exportedAtMs, tables: { accounts: [{ id, … }], … } }`, with the
 * column names of schema.ts. Integers beyond ±(2^53 − 1), which the app never writes, are strings. Each table is read
 * from one snapshot.
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
  const texts = [`{"format":"${exportFormat}","exportedAtMs":${nowMs},"tables":{`];
  let writtenCount = 0;
  for (const [index, name] of names.entries()) {
    texts.push(`${index === 0 ? '' : ','}\n${JSON.stringify(name)}:[`);
    let first = true;
    for await (const rows of reader.stream(`SELECT * FROM "${name}" ORDER BY id`)) {
      texts.push(
        rows.map((row) => `${first ? ((first = false), '') : ','}\n${JSON.stringify(row, bigintAsText)}`).join(''),
      );
      writtenCount += rows.length;
      onProgress({ writtenCount, totalCount });
    }
    texts.push(']');
  }
  texts.push('}}\n');
  return new Blob(texts, { type: 'application/json' });
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
