import { readSessionChangeset, RockpoolError, type SessionRowReader } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { Pointer } from '../sqlite/emscripten-module.ts';
import { Session } from '../sqlite/session.ts';
import type { CaptureTable } from './capture-table.ts';
import { ChangeCollector, NO_CHANGES, type CapturedChanges } from './captured-changes.ts';
import { collectRows } from './collect-rows.ts';

/** Learns what a transaction changes in the synced tables, from SQLite's session extension: about 1 µs a row. */
export class SessionCapture {
  private readonly connection: Connection;
  private readonly tablesByName: ReadonlyMap<string, CaptureTable>;
  private readonly schemaName: Pointer;
  private readonly tableNames: readonly Pointer[];
  private session: Session | null = null;

  constructor(connection: Connection, tables: readonly CaptureTable[]) {
    this.connection = connection;
    this.tablesByName = new Map(tables.map((table) => [table.schema.name, table]));
    const { memory } = connection.runtime;
    this.schemaName = memory.allocateCString('main');
    this.tableNames = tables.map((table) => memory.allocateCString(table.schema.name));
  }

  /** Call inside the transaction, before the first statement of the app. */
  begin(): void {
    if (this.tableNames.length > 0) this.session = new Session(this.connection, this.schemaName, this.tableNames);
  }

  /** Call just before COMMIT. Throws `value-invalid` for a value that can never be sent. */
  take(): CapturedChanges {
    const { session } = this;
    if (session === null) return NO_CHANGES;
    return session.readChangeset((bytes) => {
      if (bytes.length === 0) return NO_CHANGES;
      const collector = new ChangeCollector();
      readSessionChangeset(bytes, (name) => this.rowsOf(name, collector));
      return collector.finish();
    });
  }

  /**
   * Stop recording: call after every `begin`, whatever happened in between, while the transaction may still be open.
   */
  end(): void {
    this.session?.delete();
    this.session = null;
  }

  close(): void {
    this.end();
    for (const name of [this.schemaName, ...this.tableNames]) this.connection.runtime.memory.free(name);
  }

  private rowsOf(name: string, collector: ChangeCollector): SessionRowReader {
    const table = this.tablesByName.get(name);
    if (table === undefined)
      throw new RockpoolError('internal', { problem: 'session recorded another table', table: name });
    return collectRows(table, collector);
  }
}
