import { encodeKey, FIRST_LOG_HASH, RockpoolError, VERSION_NAME_TABLE, type Version } from '@rockpool/shared';
import { Sites } from '../log/sites.ts';
import { SERVER_SITE, SERVER_SITE_NUMBER } from '../sqlite/internal-tables.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { copyDatabase } from '../store/copy-database.ts';
import { removeDatabaseFiles } from '../store/data-directory.ts';
import { openDatabaseFile, storedTables } from '../store/database-file.ts';
import { storedSchema } from '../store/inspect-database.ts';
import { NOTHING_NULLED } from '../store/nulled-references.ts';
import { writeKnownRow } from '../store/row-store.ts';
import { findMoment, type FoundMoment, type PastMoment } from './past-moment.ts';
import { pastRows } from './past-rows.ts';

/** All rows of the new database belong to its first log entry. */
const WATERMARK = 1;

/**
 * Writes a new database with the rows of another one at a moment, which `databases import` can install under another
 * id. It has an identity of its own, and no history, names of versions, conflicts or members. The source may be in use.
 * Throws `history-not-kept` for the first table without a history, and like findMoment and pastRows. A call that throws
 * writes nothing.
 */
export function writePastDatabase(
  from: string,
  to: string,
  { moment, nowMs }: { readonly moment: PastMoment; readonly nowMs: number },
): FoundMoment {
  const unfinished = `${to}.unfinished`;
  removeDatabaseFiles(unfinished);
  const sql = new SqliteFile(from, { readOnly: true });
  try {
    sql.exec('BEGIN');
    const found = writeRows(sql, unfinished, moment, nowMs);
    copyDatabase(unfinished, to);
    return found;
  } finally {
    sql.close();
    removeDatabaseFiles(unfinished);
  }
}

function writeRows(sql: SqliteFile, to: string, moment: PastMoment, nowMs: number): FoundMoment {
  const schema = storedSchema(sql);
  const tables = storedTables(schema);
  // The names of versions are omitted, like the versions themselves.
  const copied = tables.filter(({ schema: table, system }) => !system && table.name !== VERSION_NAME_TABLE);
  for (const { schema: table } of copied)
    if (table.history === undefined) throw new RockpoolError('history-not-kept', { table: table.name });
  const source = {
    sql,
    sites: new Sites(sql),
    tableByName: new Map(tables.map((table) => [table.schema.name, table])),
  };
  const found = findMoment(sql, moment);
  const stampUs = found.receivedMs * 1000;
  const inserted: Version = { watermark: WATERMARK, stampUs, site: SERVER_SITE };
  const row = { inserted, revived: null, updated: new Map(), deleted: null, cells: new Map() };
  const target = openDatabaseFile(to, schema, { disposable: true });
  try {
    target.sql.transaction(() => {
      for (const table of copied) {
        for (const values of pastRows(source, table, found, nowMs)) {
          target.sql.run(table.insertSql, ...values);
          // Every cell has the version of its row. Every device derives the same documents from the JSON.
          writeKnownRow(target, table, encodeKey(values.slice(0, table.keys.length)), {
            row,
            bornAt: WATERMARK,
            waitsFor: null,
            nulled: NOTHING_NULLED,
          });
        }
      }
      target.log.append({
        watermark: WATERMARK,
        siteNumber: SERVER_SITE_NUMBER,
        sequence: 0,
        hash: FIRST_LOG_HASH,
        stampUs,
        base: 0,
        isOfOlderEpoch: false,
        isRepetition: false,
        principal: 'server',
        receivedMs: nowMs,
      });
    });
  } finally {
    target.sql.close();
  }
  return found;
}
