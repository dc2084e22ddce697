import type { HotFunctions, Pointer, SqliteModule } from './emscripten-module.ts';
import {
  SQLITE_OK,
  SQLITE_OPEN_CREATE,
  SQLITE_OPEN_READWRITE,
  SQLITE_PREPARE_PERSISTENT,
  SQLITE_TRANSIENT,
} from './result-codes.ts';
import { StoredRows } from './stored-rows.ts';
import { WasmMemory } from './wasm-memory.ts';

/** A loaded SQLite: the module, its memory, and the functions that run for every value. Connections share it. */
export class SqliteRuntime {
  readonly module: SqliteModule;
  readonly memory: WasmMemory;
  readonly storedRows: StoredRows;
  private taken: HotFunctions | undefined;

  constructor(module: SqliteModule) {
    this.module = module;
    this.memory = new WasmMemory(module);
    this.storedRows = new StoredRows(module, this.memory);
  }

  /**
   * The hot functions, taken on first use: taking them earlier would delay the responses that opening the storage waits
   * for.
   */
  get hot(): HotFunctions {
    this.taken ??= takeHotFunctions(this.module, this.memory);
    return this.taken;
  }
}

/**
 * Emscripten exports a stub for each function, which replaces itself in the module with the WebAssembly function on its
 * first call. Calls through the stubs or through the module's large object make 20,000 prepared inserts 2.5 times
 * slower. So this calls each hot function once, on a throw-away database, and then takes the replaced function.
 */
function takeHotFunctions(module: SqliteModule, memory: WasmMemory): HotFunctions {
  const result = memory.allocate(8);
  const path = memory.allocateCString(':memory:');
  const sql = memory.allocateCString('SELECT ?1, ?2, ?3, ?4, ?5, ?6');
  const bytes = memory.allocate(8);
  const openFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const opened = module._sqlite3_open_v2(path, result, openFlags, 0);
  if (opened !== SQLITE_OK) throw new Error(`SQLite cannot open ":memory:": ${opened}`);
  const connection: Pointer = memory.readPointer(result);
  module._sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, result, 0);
  const statement: Pointer = memory.readPointer(result);
  module._sqlite3_bind_null(statement, 1);
  module._sqlite3_bind_int(statement, 2, 1);
  module._sqlite3_bind_int64(statement, 3, 1, 1);
  module._sqlite3_bind_double(statement, 4, 0.5);
  module._sqlite3_bind_text(statement, 5, bytes, 0, SQLITE_TRANSIENT);
  module._sqlite3_bind_blob(statement, 6, bytes, 8, SQLITE_TRANSIENT);
  module._sqlite3_step(statement);
  module._sqlite3_column_count(statement);
  module._sqlite3_column_type(statement, 0);
  module._sqlite3_column_int64(statement, 2);
  module._sqlite3_column_double(statement, 3);
  module._sqlite3_column_text(statement, 4);
  module._sqlite3_column_blob(statement, 5);
  module._sqlite3_column_bytes(statement, 5);
  module._sqlite3_reset(statement);
  module._rockpool_rows_take(statement, 1, 1);
  module._sqlite3_reset(statement);
  module._sqlite3_clear_bindings(statement);
  module._sqlite3_finalize(statement);
  module._sqlite3_close_v2(connection);
  for (const address of [result, path, sql, bytes]) memory.free(address);
  return {
    _sqlite3_step: module._sqlite3_step,
    _sqlite3_reset: module._sqlite3_reset,
    _sqlite3_clear_bindings: module._sqlite3_clear_bindings,
    _sqlite3_bind_null: module._sqlite3_bind_null,
    _sqlite3_bind_int: module._sqlite3_bind_int,
    _sqlite3_bind_int64: module._sqlite3_bind_int64,
    _sqlite3_bind_double: module._sqlite3_bind_double,
    _sqlite3_bind_text: module._sqlite3_bind_text,
    _sqlite3_bind_blob: module._sqlite3_bind_blob,
    _sqlite3_column_type: module._sqlite3_column_type,
    _sqlite3_column_int64: module._sqlite3_column_int64,
    _sqlite3_column_double: module._sqlite3_column_double,
    _sqlite3_column_text: module._sqlite3_column_text,
    _sqlite3_column_blob: module._sqlite3_column_blob,
    _sqlite3_column_bytes: module._sqlite3_column_bytes,
    _sqlite3_column_count: module._sqlite3_column_count,
    _rockpool_rows_take: module._rockpool_rows_take,
  };
}
