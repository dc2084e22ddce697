import { syncedTables } from '@rockpool/shared';
import { readCaptureTable } from '../../src/worker/capture/capture-table.ts';
import { TransactionCapture } from '../../src/worker/capture/transaction-capture.ts';
import type { OpenDatabase } from '../../src/worker/database/open-database.ts';

/** Writes one transaction like earlier versions, which accepted values of any type in any column. */
export function writeAsBefore({ connection, changelog, meta, localTime, schema }: OpenDatabase, sql: string): void {
  const capture = new TransactionCapture(
    connection,
    syncedTables(schema).map((table) => readCaptureTable(connection, table)),
  );
  connection.run('BEGIN');
  capture.begin();
  connection.exec(sql);
  const changes = capture.take();
  capture.end();
  changelog.append({ ...changes, atomic: false, cellBases: [], base: meta.cursor }, localTime);
  connection.run('COMMIT');
  capture.close();
}
