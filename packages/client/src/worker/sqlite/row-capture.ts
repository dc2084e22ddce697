import type { Connection } from './connection.ts';
import type { Pointer } from './emscripten-module.ts';
import { SQLITE_NOMEM, SQLITE_OK } from './result-codes.ts';

/**
 * Records which rows of some tables a transaction changes, with their old values, in C (sqlite/capture.c). The result
 * has the format of SQLite's session changesets, read by `shared/src/change/session-changeset.ts`.
 */
export class RowCapture {
  private readonly connection: Connection;
  private readonly handle: Pointer;
  private readonly result: Pointer;
  private recording = false;

  /** Captures tables of `main`, which must have rowids. */
  constructor(connection: Connection, tableNames: readonly string[]) {
    const { module, memory } = connection.runtime;
    this.connection = connection;
    this.handle = module._rockpool_capture_new(connection.handle);
    if (this.handle === 0) throw connection.lastError(SQLITE_NOMEM, 'step');
    this.result = memory.allocate(8);
    for (const tableName of tableNames) {
      const name = memory.allocateCString(tableName);
      const code = module._rockpool_capture_table(this.handle, name);
      memory.free(name);
      if (code === SQLITE_OK) continue;
      this.free();
      throw connection.lastError(code, 'step');
    }
  }

  /** Starts recording. A connection records one capture at a time. */
  begin(): void {
    this.connection.runtime.module._rockpool_capture_begin(this.handle);
    if (!this.recording) this.connection.recordingChanged(1);
    this.recording = true;
  }

  /**
   * Passes the net changes since `begin` to `read`, as a view of SQLite's memory. `read` must not call SQLite. The view
   * is empty when nothing changed. Call it inside the transaction; recording continues.
   */
  readChangeset<T>(read: (bytes: Uint8Array) => T): T {
    const { module, memory } = this.connection.runtime;
    const code = module._rockpool_capture_take(this.handle, this.result);
    if (code !== SQLITE_OK) throw this.connection.lastError(code, 'step');
    const address = memory.readPointer(this.result);
    return read(memory.bytes.subarray(address, address + memory.readPointer(this.result + 4)));
  }

  /** Stops recording. */
  end(): void {
    if (!this.recording) return;
    this.recording = false;
    this.connection.runtime.module._rockpool_capture_end(this.handle);
    this.connection.recordingChanged(-1);
  }

  /** Call it before the connection is closed. */
  free(): void {
    this.end();
    const { module, memory } = this.connection.runtime;
    module._rockpool_capture_free(this.handle);
    memory.free(this.result);
  }
}
