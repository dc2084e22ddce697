import { readSessionChangeset, RockpoolError, type SessionRowReader } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { RowCapture } from '../sqlite/row-capture.ts';
import type { CaptureTable } from './capture-table.ts';
import { ChangeCollector, NO_CHANGES, type CapturedChanges } from './captured-changes.ts';
import { collectRows } from './collect-rows.ts';

/** Captures the changes of a transaction in the synced tables. */
export class TransactionCapture {
  private readonly tablesByName: ReadonlyMap<string, CaptureTable>;
  private readonly rows: RowCapture;

  constructor(connection: Connection, tables: readonly CaptureTable[]) {
    this.tablesByName = new Map(tables.map((table) => [table.schema.name, table]));
    this.rows = new RowCapture(connection, [...this.tablesByName.keys()]);
  }

  /** Starts recording. Call inside the transaction, before the app's first statement. */
  begin(): void {
    if (this.tablesByName.size > 0) this.rows.begin();
  }

  /** The changes so far. Call just before COMMIT. Throws `value-invalid` for a value that cannot be sent. */
  take(): CapturedChanges {
    if (this.tablesByName.size === 0) return NO_CHANGES;
    return this.rows.readChangeset((bytes) => {
      if (bytes.length === 0) return NO_CHANGES;
      const collector = new ChangeCollector();
      readSessionChangeset(bytes, (name) => this.rowsOf(name, collector));
      return collector.finish();
    });
  }

  /** Stops recording. Call it after every `begin`, even after an error, while the transaction may still be open. */
  end(): void {
    this.rows.end();
  }

  close(): void {
    this.rows.free();
  }

  private rowsOf(name: string, collector: ChangeCollector): SessionRowReader {
    const table = this.tablesByName.get(name);
    if (table === undefined)
      throw new RockpoolError('internal', { problem: 'a change to an unknown table was captured', table: name });
    return collectRows(table, collector);
  }
}
