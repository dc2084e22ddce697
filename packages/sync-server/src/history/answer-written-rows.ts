import { encodeWrittenRows } from '@rockpool/shared';
import { Sites } from '../log/sites.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { storedTables } from '../store/database-file.ts';
import { storedSchema } from '../store/inspect-database.ts';
import { readWrittenRows, type WrittenRowsRequest } from './written-rows.ts';

/** Reads in a transaction of its own, so it does not block writers. Returns encoded WrittenRows. */
export function answerWrittenRows(from: string, request: WrittenRowsRequest, nowMs: number): Uint8Array<ArrayBuffer> {
  const sql = new SqliteFile(from, { readOnly: true });
  try {
    sql.exec('BEGIN');
    const tables = storedTables(storedSchema(sql));
    const tableByName = new Map(tables.map((table) => [table.schema.name, table]));
    return encodeWrittenRows(readWrittenRows({ sql, sites: new Sites(sql), tableByName }, request, nowMs));
  } finally {
    sql.close();
  }
}
