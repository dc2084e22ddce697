import { RockpoolError, type CellValue } from '@rockpool/shared';
import type { SqlParam, SqlValue } from '../../rpc/sql-value.ts';
import type { TableUse } from './authorizer.ts';
import type { TableWrites } from './known-values.ts';
import { nameTable, type ConstraintReader } from './name-table.ts';
import type { HotFunctions, Pointer } from './emscripten-module.ts';
import {
  SQLITE_BLOB,
  SQLITE_DONE,
  SQLITE_FLOAT,
  SQLITE_INTEGER,
  SQLITE_NULL,
  SQLITE_OK,
  SQLITE_RANGE,
  SQLITE_ROW,
  SQLITE_TEXT,
  SQLITE_TRANSIENT,
} from './result-codes.ts';
import type { SqliteRuntime } from './sqlite-runtime.ts';
import type { StoredRows } from './stored-rows.ts';
import type { WasmMemory } from './wasm-memory.ts';

const TWO_TO_32 = 0x1_0000_0000;

const NO_WRITES: readonly TableWrites[] = [];

// Results of sqlite/rows.c besides SQLite's own.
const ROWS_FULL = 200;
const ROWS_TOO_LARGE = 201;

/** The part of a connection that its statements use. */
export interface StatementOwner extends ConstraintReader {
  lastError(result: number, phase: 'prepare' | 'step'): RockpoolError;
  recycle(statement: Statement): void;
  forget(statement: Statement): void;
  forgetKnownValues(): void;
}

export interface StatementFacts {
  readonly sql: string;
  /** The cache that holds the statement while it is idle. */
  readonly home: Map<string, Statement>;
  readonly use: TableUse;
  /** The internal tables that it names. */
  readonly written: readonly TableWrites[];
  /** Whether it may undo what other statements wrote. */
  readonly mayUndo: boolean;
}

/**
 * One prepared statement. As in SQLite, parameters count from 1 and columns from 0.
 *
 * Values have two forms: `…Cell` values are exact (number is REAL, bigint is INTEGER), `…Value` and parameters are API
 * values.
 */
export class Statement {
  readonly sql: string;
  /** The cache that holds the statement while it is idle. */
  readonly home: Map<string, Statement>;
  /** 0 once finalized. */
  handle: Pointer;
  readonly parameterCount: number;
  /** True when the statement cannot change the database. */
  readonly readOnly: boolean;
  /** Filled when the statement was prepared under an `SqlPolicy`. */
  readonly columnsRead: ReadonlyMap<string, ReadonlySet<string>>;
  /** Includes the tables of triggers and foreign-key actions. */
  readonly tablesWritten: ReadonlySet<string>;
  private readonly connection: StatementOwner;
  private readonly runtime: SqliteRuntime;
  private readonly memory: WasmMemory;
  private readonly hot: HotFunctions;
  private readonly freeAddress: number;
  private readonly written: readonly TableWrites[];
  private readonly undoes: boolean;
  private names: readonly string[] | null = null;
  private namesOf = 0;

  constructor(connection: StatementOwner, runtime: SqliteRuntime, handle: Pointer, facts: StatementFacts) {
    const { sql, home, use, written, mayUndo } = facts;
    this.connection = connection;
    this.runtime = runtime;
    this.memory = runtime.memory;
    this.hot = runtime.hot;
    this.freeAddress = runtime.module._getSqliteFree();
    this.handle = handle;
    this.sql = sql;
    this.home = home;
    this.columnsRead = use.read;
    this.tablesWritten = use.written;
    this.parameterCount = runtime.module._sqlite3_bind_parameter_count(handle);
    this.readOnly = runtime.module._sqlite3_stmt_readonly(handle) !== 0;
    // SQLite calls COMMIT and ROLLBACK read-only.
    this.written = this.readOnly ? NO_WRITES : written;
    this.undoes = this.readOnly && this.columnCount === 0 && mayUndo;
  }

  /** Number of columns of a row; 0 for a statement without rows. May change with the schema until the first step. */
  get columnCount(): number {
    return this.hot._sqlite3_column_count(this.handle);
  }

  columnNames(): string[] {
    const names: string[] = [];
    const count = this.columnCount;
    for (let column = 0; column < count; column++) {
      names.push(this.memory.readCString(this.runtime.module._sqlite3_column_name(this.handle, column)));
    }
    return names;
  }

  /** The names of the columns of the rows that `storeRows` stored. Call it right after. */
  storedNames(): readonly string[] {
    const { recompilations } = this.storedRows;
    if (this.names === null || this.namesOf !== recompilations) {
      this.names = this.columnNames();
      this.namesOf = recompilations;
    }
    return this.names;
  }

  get storedRows(): StoredRows {
    return this.runtime.storedRows;
  }

  /**
   * Steps, and stores up to `maxRows` rows in SQLite's memory: after the stored ones, or as the first ones. `end`: the
   * statement has no more rows. `full`: read the rows and call it again. After an error the statement is reset.
   */
  storeRows(isFirst: boolean, maxRows: number): 'more' | 'end' | 'full' | 'too-large' {
    const result = this.hot._rockpool_rows_take(this.handle, isFirst ? 1 : 0, maxRows);
    switch (result) {
      case SQLITE_ROW:
        return 'more';
      case SQLITE_DONE:
        return 'end';
      case ROWS_FULL:
        return 'full';
      case ROWS_TOO_LARGE:
        return 'too-large';
      default:
        throw this.stepError(result);
    }
  }

  /** Binds an exact value: number as REAL, bigint as INTEGER. */
  bindCell(index: number, value: CellValue): void {
    if (typeof value === 'string') this.bindText(index, value);
    else if (value === null) this.check(this.hot._sqlite3_bind_null(this.handle, index));
    else if (typeof value === 'bigint') this.bindBigInt(index, value);
    else if (typeof value === 'number') this.bindReal(index, value);
    else this.bindBlob(index, value);
  }

  /** Binds an API value. Throws `value-invalid` for a value that SQLite cannot hold. */
  bindParam(index: number, value: SqlParam): void {
    if (typeof value === 'string') this.bindText(index, value);
    else if (typeof value === 'number') {
      if (Number.isSafeInteger(value) && !Object.is(value, -0)) this.bindInteger(index, value);
      else this.bindReal(index, value);
    } else if (value === null) this.check(this.hot._sqlite3_bind_null(this.handle, index));
    else if (typeof value === 'boolean') this.bindInteger(index, value ? 1 : 0);
    else if (typeof value === 'bigint') this.bindBigInt(index, value);
    else if (value instanceof Uint8Array) this.bindBlob(index, value);
    else
      throw new RockpoolError('value-invalid', {
        problem: 'the type of the value is not supported',
        type: typeNameOf(value),
        parameter: index,
      });
  }

  bindParams(params: readonly SqlParam[]): void {
    const count = this.parameterCount;
    if (params.length !== count)
      throw new RockpoolError('query-invalid', {
        problem: 'the number of parameters is wrong',
        expected: count,
        given: params.length,
      });
    for (let i = 0; i < count; i++) this.bindParam(i + 1, params[i] as SqlParam);
  }

  bindInteger(index: number, value: number): void {
    const { hot, handle } = this;
    if (value === (value | 0)) this.check(hot._sqlite3_bind_int(handle, index, value));
    else {
      const high = Math.floor(value / TWO_TO_32);
      this.check(hot._sqlite3_bind_int64(handle, index, (value - high * TWO_TO_32) | 0, high | 0));
    }
  }

  private bindBigInt(index: number, value: bigint): void {
    if (BigInt.asIntN(64, value) !== value)
      throw new RockpoolError('value-invalid', { problem: 'integer-range', parameter: index });
    const low = Number(BigInt.asIntN(32, value));
    const high = Number(BigInt.asIntN(32, value >> 32n));
    this.check(this.hot._sqlite3_bind_int64(this.handle, index, low, high));
  }

  private bindReal(index: number, value: number): void {
    // SQLite would silently store NULL.
    if (Number.isNaN(value)) throw new RockpoolError('value-invalid', { problem: 'not-a-number', parameter: index });
    // Binds -0.0 as 0.0: SQLite's sessions, which servers use, ignore a change of the sign alone.
    this.check(this.hot._sqlite3_bind_double(this.handle, index, value + 0));
  }

  private bindText(index: number, value: string): void {
    const { memory } = this;
    const address = memory.writeText(value);
    const destructor = memory.isScratch(address) ? SQLITE_TRANSIENT : this.freeAddress;
    this.check(this.hot._sqlite3_bind_text(this.handle, index, address, memory.writtenBytes, destructor));
  }

  private bindBlob(index: number, value: Uint8Array): void {
    const { memory } = this;
    const address = memory.writeBytes(value);
    const destructor = memory.isScratch(address) ? SQLITE_TRANSIENT : this.freeAddress;
    this.check(this.hot._sqlite3_bind_blob(this.handle, index, address, value.length, destructor));
  }

  /** Steps to the next row. Returns true when there is one, false at the end. After an error the statement is reset. */
  step(): boolean {
    const result = this.hot._sqlite3_step(this.handle);
    for (const table of this.written) table.count++;
    if (this.undoes) this.connection.forgetKnownValues();
    if (result === SQLITE_ROW) return true;
    if (result === SQLITE_DONE) return false;
    throw this.stepError(result);
  }

  private stepError(result: number): RockpoolError {
    // The message belongs to the connection and must be read before any other call on it.
    const error = this.connection.lastError(result, 'step');
    this.hot._sqlite3_reset(this.handle);
    return nameTable(this.connection, error, this.tablesWritten);
  }

  /** Makes the statement ready to run again and keeps its bindings. */
  reset(): void {
    this.hot._sqlite3_reset(this.handle);
  }

  /** Binds exact values, runs the statement to its end and resets it: for statements without rows. */
  runCells(...cells: readonly CellValue[]): void {
    for (let i = 0; i < cells.length; i++) this.bindCell(i + 1, cells[i] as CellValue);
    while (this.step());
    this.reset();
  }

  /** Like `runCells`, with API values. */
  run(...params: readonly SqlParam[]): void {
    this.bindParams(params);
    while (this.step());
    this.reset();
  }

  /** Reads an exact value. Throws `value-invalid` for text that is not UTF-8. */
  readCell(column: number): CellValue {
    const { hot, handle } = this;
    switch (hot._sqlite3_column_type(handle, column)) {
      case SQLITE_INTEGER:
        return this.readBigInt(column);
      case SQLITE_FLOAT:
        return hot._sqlite3_column_double(handle, column);
      case SQLITE_TEXT:
        return this.readExactText(column);
      case SQLITE_BLOB:
        return this.readBlob(column);
      default:
        return null;
    }
  }

  readCells(): CellValue[] {
    const cells: CellValue[] = [];
    const count = this.columnCount;
    for (let column = 0; column < count; column++) cells.push(this.readCell(column));
    return cells;
  }

  /** Reads an API value. */
  readValue(column: number): SqlValue {
    const { hot, handle } = this;
    switch (hot._sqlite3_column_type(handle, column)) {
      case SQLITE_INTEGER: {
        // The double is used only if it is a safe integer, which it holds exactly.
        const value = hot._sqlite3_column_double(handle, column);
        return Number.isSafeInteger(value) ? value : this.readBigInt(column);
      }
      case SQLITE_FLOAT:
        return hot._sqlite3_column_double(handle, column);
      case SQLITE_TEXT: {
        const address = hot._sqlite3_column_text(handle, column);
        return this.memory.readText(address, hot._sqlite3_column_bytes(handle, column));
      }
      case SQLITE_BLOB:
        return this.readBlob(column);
      default:
        return null;
    }
  }

  readValues(): SqlValue[] {
    const values: SqlValue[] = [];
    const count = this.columnCount;
    for (let column = 0; column < count; column++) values.push(this.readValue(column));
    return values;
  }

  readBigInt(column: number): bigint {
    const low = this.hot._sqlite3_column_int64(this.handle, column);
    const high = this.runtime.module.getTempRet0();
    return (BigInt(high | 0) << 32n) | BigInt(low >>> 0);
  }

  isNull(column: number): boolean {
    return this.hot._sqlite3_column_type(this.handle, column) === SQLITE_NULL;
  }

  private readExactText(column: number): string {
    const address = this.hot._sqlite3_column_text(this.handle, column);
    const sizeBytes = this.hot._sqlite3_column_bytes(this.handle, column);
    try {
      return this.memory.readExactText(address, sizeBytes);
    } catch {
      throw new RockpoolError('value-invalid', { problem: 'text-not-utf8' });
    }
  }

  private readBlob(column: number): Uint8Array<ArrayBuffer> {
    const address = this.hot._sqlite3_column_blob(this.handle, column);
    return this.memory.copyBytes(address, this.hot._sqlite3_column_bytes(this.handle, column));
  }

  private check(result: number): void {
    if (result === SQLITE_OK) return;
    if (result === SQLITE_RANGE)
      throw new RockpoolError('query-invalid', {
        problem: 'the number of parameters is wrong',
        expected: this.parameterCount,
      });
    throw this.connection.lastError(result, 'step');
  }

  /**
   * Resets the statement, clears its bindings and returns it to the connection for the next `prepare` of the same SQL.
   * Do not use it afterwards.
   */
  release(): void {
    this.hot._sqlite3_reset(this.handle);
    this.hot._sqlite3_clear_bindings(this.handle);
    this.connection.recycle(this);
  }

  /** Destroys the statement. */
  finalize(): void {
    if (this.home.get(this.sql) === this) this.home.delete(this.sql);
    this.connection.forget(this);
    this.runtime.module._sqlite3_finalize(this.handle);
    this.handle = 0;
  }
}

function typeNameOf(value: unknown): string {
  return value instanceof Date ? 'Date' : typeof value;
}
