import type { Connection } from './connection.ts';
import type { Pointer } from './emscripten-module.ts';
import { SQLITE_OK } from './result-codes.ts';

/**
 * SQLite's session extension: records which rows of the attached tables change on one connection, with their old
 * values. Its changeset format is SQLite's, read by `shared/src/change/session-changeset.ts`; Rockpool's changesets
 * have another format.
 */
export class Session {
  private readonly connection: Connection;
  private readonly handle: Pointer;

  /**
   * Records changes of these tables from now on. Tables are attached one by one, because attaching all would include
   * the shadow tables of FTS. Names are C strings that the caller keeps, because every write creates a session.
   */
  constructor(connection: Connection, schemaName: Pointer, tableNames: readonly Pointer[]) {
    const { module, memory } = connection.runtime;
    this.connection = connection;
    const result = memory.allocate(4);
    const created = module._sqlite3session_create(connection.handle, schemaName, result);
    this.handle = memory.readPointer(result);
    memory.free(result);
    if (created !== SQLITE_OK) throw connection.lastError(created, 'step');
    connection.sessionChanged(1);
    for (const name of tableNames) {
      const attached = module._sqlite3session_attach(this.handle, name);
      if (attached === SQLITE_OK) continue;
      this.delete();
      throw connection.lastError(attached, 'step');
    }
  }

  /**
   * Passes the net changes since the tables were attached to `read`, as a view of SQLite's memory. `read` must not call
   * SQLite. The view is empty when nothing changed.
   */
  readChangeset<T>(read: (bytes: Uint8Array) => T): T {
    const { module, memory } = this.connection.runtime;
    const results = memory.allocate(8);
    const code = module._sqlite3session_changeset(this.handle, results, results + 4);
    const sizeBytes = memory.readPointer(results);
    const address = memory.readPointer(results + 4);
    memory.free(results);
    if (code !== SQLITE_OK) throw this.connection.lastError(code, 'step');
    try {
      return read(memory.bytes.subarray(address, address + sizeBytes));
    } finally {
      memory.free(address);
    }
  }

  /** Call it before the connection is closed. */
  delete(): void {
    this.connection.runtime.module._sqlite3session_delete(this.handle);
    this.connection.sessionChanged(-1);
  }
}
