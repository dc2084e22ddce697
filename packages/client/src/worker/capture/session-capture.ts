import { readSessionChangeset, RockpoolError, type SessionRowReader } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { Pointer } from '../sqlite/emscripten-module.ts';
import { Session } from '../sqlite/session.ts';
import type { CaptureTable } from './capture-table.ts';
import { ChangeCollector, NO_CHANGES, type CapturedChanges } from './captured-changes.ts';
import { collectRows } from './collect-rows.ts';

/**
 * Captures the changes of a transaction in the synced tables through SQLite's session extension, at about 1 µs a row.
 */
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

  /** Starts recording. Call inside the transaction, before the app's first statement. */
  begin(): void {
    if (this.tableNames.length > 0) this.session = new Session(this.connection, this.schemaName, this.tableNames);
  }

  /** The changes so far. Call just before COMMIT. Throws `value-invalid` for a value that cannot be sent. */
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

  /** Stops recording. Call after every `begin`, also after an error, while the transaction may still be open. */
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
