import { rmSync, statSync } from 'node:fs';
import { encodeSchema, RockpoolError, tableToDdl } from '@rockpool/shared';
import { compressFile, createClientFile, type CompressedFile } from '../store/client-file.ts';
import { laterColumns } from '../log/column-births.ts';
import { Sites } from '../log/sites.ts';
import { readMeta } from '../sqlite/meta.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { storedTables, type DatabaseReader } from '../store/database-file.ts';
import { identityOf } from '../store/identity.ts';
import { storedSchema } from '../store/inspect-database.ts';
import { findMoment, type FoundMoment, type PastMoment } from './past-moment.ts';
import { pastRows } from './past-rows.ts';

/** A finished file, and the moment of its content. */
export interface PastStateFacts extends FoundMoment, CompressedFile {
  /** The size of the uncompressed file. */
  readonly sizeBytes: number;
}

/**
 * Writes the state of a database at a moment to a compressed SQLite file: the tables that declare a history, with
 * today's columns and indexes, the moment in `rockpool_past`, and the columns that did not exist then, which have their
 * defaults, in `rockpool_past_later_column`. Reads in a transaction of its own, so it does not
 * block writers. Takes seconds for a large database; run it in a worker. Throws `history-not-kept` if no table declares
 * a history, and like findMoment and pastRows.
 */
export async function writePastState(
  from: string,
  to: string,
  { moment, nowMs }: { readonly moment: PastMoment; readonly nowMs: number },
): Promise<PastStateFacts> {
  const plain = `${to}.plain`;
  for (const path of [plain, to]) rmSync(path, { force: true });
  try {
    const found = writePlainPastState(from, plain, { moment, nowMs });
    const { size: sizeBytes } = statSync(plain);
    return { ...found, sizeBytes, ...(await compressFile(plain, to)) };
  } catch (thrown) {
    // A partial file would keep the disk full.
    rmSync(to, { force: true });
    throw thrown;
  } finally {
    rmSync(plain, { force: true });
  }
}

/** Writes the same file without compression. */
export function writePlainPastState(
  from: string,
  to: string,
  { moment, nowMs }: { readonly moment: PastMoment; readonly nowMs: number },
): FoundMoment {
  const sql = new SqliteFile(from, { readOnly: true });
  const target = createClientFile(to);
  try {
    sql.exec('BEGIN');
    const schema = storedSchema(sql);
    const tables = storedTables(schema);
    const kept = tables.filter((table) => table.schema.history !== undefined);
    if (kept.length === 0) throw new RockpoolError('history-not-kept');
    const file: DatabaseReader = {
      sql,
      sites: new Sites(sql),
      tableByName: new Map(tables.map((t) => [t.schema.name, t])),
    };
    const found = findMoment(sql, moment);
    target.exec('BEGIN');
    target.exec('CREATE TABLE rockpool_past_later_column (table_name TEXT NOT NULL, column_name TEXT NOT NULL)');
    for (const table of kept) {
      const [create = '', ...indexes] = tableToDdl(table.schema);
      target.exec(create);
      const insert = target.prepare(table.insertSql);
      for (const row of pastRows(file, table, found, nowMs)) insert.run(...row);
      for (const index of indexes) target.exec(index);
      for (const [columnId, until] of laterColumns(sql, table))
        if (found.watermark <= until)
          target
            .prepare('INSERT INTO rockpool_past_later_column VALUES (?, ?)')
            .run(table.schema.name, table.valueById.get(columnId)?.name ?? '');
    }
    target.exec(
      'CREATE TABLE rockpool_past (watermark INTEGER NOT NULL, received_ms INTEGER NOT NULL, schema_json TEXT NOT NULL, epoch BLOB NOT NULL, database_identity BLOB NOT NULL)',
    );
    target
      .prepare('INSERT INTO rockpool_past VALUES (?, ?, ?, ?, ?)')
      .run(
        BigInt(found.watermark),
        BigInt(found.receivedMs),
        encodeSchema(schema),
        readMeta(sql, 'epoch') as Uint8Array,
        identityOf(sql),
      );
    target.exec('COMMIT');
    return found;
  } finally {
    target.close();
    sql.close();
  }
}
