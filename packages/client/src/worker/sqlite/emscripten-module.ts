import type { SqliteModule as VfsModule } from '@rockpool/vfs-opfs';

/** An address in the module's memory. */
export type Pointer = number;

/**
 * The C functions of SQLite that run for every row or value. 64-bit integers cross as two 32-bit halves: parameters as
 * (low, high), results as the low half, with the high half in `getTempRet0()`.
 */
export interface HotFunctions {
  _sqlite3_step(statement: Pointer): number;
  _sqlite3_reset(statement: Pointer): number;
  _sqlite3_clear_bindings(statement: Pointer): number;
  _sqlite3_bind_null(statement: Pointer, index: number): number;
  _sqlite3_bind_int(statement: Pointer, index: number, value: number): number;
  _sqlite3_bind_int64(statement: Pointer, index: number, low: number, high: number): number;
  _sqlite3_bind_double(statement: Pointer, index: number, value: number): number;
  _sqlite3_bind_text(statement: Pointer, index: number, text: Pointer, sizeBytes: number, destructor: number): number;
  _sqlite3_bind_blob(statement: Pointer, index: number, bytes: Pointer, sizeBytes: number, destructor: number): number;
  _sqlite3_column_type(statement: Pointer, column: number): number;
  _sqlite3_column_int64(statement: Pointer, column: number): number;
  _sqlite3_column_double(statement: Pointer, column: number): number;
  _sqlite3_column_text(statement: Pointer, column: number): Pointer;
  _sqlite3_column_blob(statement: Pointer, column: number): Pointer;
  _sqlite3_column_bytes(statement: Pointer, column: number): number;
  _sqlite3_column_count(statement: Pointer): number;
  // sqlite/rows.c
  _rockpool_rows_take(statement: Pointer, isFirst: number, maxRows: number): number;
}

/** The parts of the Emscripten module that this binding and the VFS use. */
export interface SqliteModule extends HotFunctions, VfsModule {
  getTempRet0(): number;
  /**
   * Registers a function that C calls, under an address. This build's function table cannot grow, so `addFunction` does
   * not work.
   */
  setCallback(key: Pointer, callback: unknown): void;
  deleteCallback(key: Pointer): void;
  _malloc(sizeBytes: number): Pointer;
  _free(address: Pointer): void;
  /** The address of sqlite3_free, for use as a destructor. */
  _getSqliteFree(): number;
  _sqlite3_open_v2(path: Pointer, result: Pointer, flags: number, vfsName: Pointer): number;
  _sqlite3_close_v2(connection: Pointer): number;
  _sqlite3_exec(connection: Pointer, sql: Pointer, callback: number, argument: number, message: number): number;
  _sqlite3_prepare_v3(
    connection: Pointer,
    sql: Pointer,
    sizeBytes: number,
    flags: number,
    result: Pointer,
    tail: Pointer,
  ): number;
  _sqlite3_finalize(statement: Pointer): number;
  _sqlite3_stmt_readonly(statement: Pointer): number;
  _sqlite3_stmt_isexplain(statement: Pointer): number;
  _sqlite3_bind_parameter_count(statement: Pointer): number;
  _sqlite3_column_name(statement: Pointer, column: number): Pointer;
  _sqlite3_errmsg(connection: Pointer): Pointer;
  _sqlite3_error_offset(connection: Pointer): number;
  _sqlite3_extended_errcode(connection: Pointer): number;
  _sqlite3_extended_result_codes(connection: Pointer, on: number): number;
  _sqlite3_changes(connection: Pointer): number;
  _sqlite3_total_changes(connection: Pointer): number;
  _sqlite3_get_autocommit(connection: Pointer): number;
  _sqlite3_db_config(connection: Pointer, option: number, arguments_: Pointer): number;
  _libauthorizer_set_authorizer(connection: Pointer, on: number, flags: Pointer): number;
  // sqlite/capture.c
  _rockpool_capture_new(connection: Pointer): Pointer;
  _rockpool_capture_table(capture: Pointer, name: Pointer): number;
  _rockpool_capture_begin(capture: Pointer): void;
  _rockpool_capture_take(capture: Pointer, result: Pointer): number;
  _rockpool_capture_end(capture: Pointer): void;
  _rockpool_capture_free(capture: Pointer): void;
  // sqlite/row-effects.c
  _rockpool_row_effects(connection: Pointer, triggers: number, foreignKeys: number): number;
  // sqlite/rows.c
  _rockpool_rows(): Pointer;
  // For tests: sets when sqlite/scan.c executes rows in batches. `mode` 0: never, 1: when it pays (default), 2: always.
  // `groupBytes`: the maximum size of a hash, 0 for the default. Returns the number of rows executed in batches since
  // the last call.
  _rockpool_scan_mode(mode: 0 | 1 | 2, groupBytes: number): number;
}
