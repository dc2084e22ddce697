import type { SqliteModule } from '../src/sqlite/sqlite-module.ts';
import type { Storage } from '../src/storage.ts';

/** The C functions that the tests call, as wa-sqlite exports them. */
export interface TestModule extends SqliteModule {
  _sqlite3_open_v2(path: number, out: number, flags: number, vfs: number): number;
  _sqlite3_close(db: number): number;
  _sqlite3_prepare_v2(db: number, sql: number, length: number, outStatement: number, outTail: number): number;
  _sqlite3_step(statement: number): number;
  _sqlite3_finalize(statement: number): number;
  _sqlite3_column_count(statement: number): number;
  _sqlite3_column_type(statement: number, column: number): number;
  _sqlite3_column_double(statement: number, column: number): number;
  _sqlite3_column_text(statement: number, column: number): number;
  _sqlite3_column_bytes(statement: number, column: number): number;
  _sqlite3_errmsg(db: number): number;
  _sqlite3_extended_errcode(db: number): number;
  _sqlite3_get_autocommit(db: number): number;
}

export type TestValue = number | string | null;

const OPEN_READWRITE_CREATE = 6;
const ROW = 100;
const DONE = 101;

/** A failure of SQLite, with its extended result code. */
export class TestSqliteError extends Error {
  readonly resultCode: number;

  constructor(resultCode: number, message: string) {
    super(message);
    this.resultCode = resultCode;
  }
}

/** A minimal, synchronous SQLite connection for tests. */
export class TestConnection {
  readonly #module: TestModule;
  readonly #db: number;
  readonly #out: number;

  constructor(module: TestModule, storage: Storage) {
    this.#module = module;
    storage.register(module);
    this.#out = module._sqlite3_malloc(8);
    const result = this.#withText(storage.path, (path) =>
      this.#withText(storage.vfsName, (vfs) => module._sqlite3_open_v2(path, this.#out, OPEN_READWRITE_CREATE, vfs)),
    );
    this.#db = module.HEAP32[this.#out >> 2]!;
    if (result !== 0) {
      module._sqlite3_close(this.#db);
      throw new TestSqliteError(result, `open failed with ${result}`);
    }
  }

  /** Runs all statements of `sql` and returns the rows of the last one that had any. */
  run(sql: string): TestValue[][] {
    const module = this.#module;
    return this.#withText(sql, (text) => {
      let rows: TestValue[][] = [];
      for (let at = text; module.HEAPU8[at] !== 0;) {
        const prepared = module._sqlite3_prepare_v2(this.#db, at, -1, this.#out, this.#out + 4);
        if (prepared !== 0) throw this.#error();
        const statement = module.HEAP32[this.#out >> 2]!;
        at = module.HEAP32[(this.#out >> 2) + 1]!;
        if (statement === 0) break;
        const found: TestValue[][] = [];
        let result = module._sqlite3_step(statement);
        for (; result === ROW; result = module._sqlite3_step(statement)) found.push(this.#row(statement));
        const error = result === DONE ? undefined : this.#error();
        module._sqlite3_finalize(statement);
        if (error !== undefined) throw error;
        if (found.length > 0) rows = found;
      }
      return rows;
    });
  }

  get inTransaction(): boolean {
    return this.#module._sqlite3_get_autocommit(this.#db) === 0;
  }

  /** Returns the first value of the first row. */
  value(sql: string): TestValue | undefined {
    return this.run(sql)[0]?.[0];
  }

  /** Prepares a statement and leaves it open, to hold a read transaction. */
  prepare(sql: string): TestStatement {
    const module = this.#module;
    const prepared = this.#withText(sql, (text) => module._sqlite3_prepare_v2(this.#db, text, -1, this.#out, 0));
    if (prepared !== 0) throw this.#error();
    const statement = module.HEAP32[this.#out >> 2]!;
    return {
      step: () => {
        const result = module._sqlite3_step(statement);
        if (result === ROW) return this.#row(statement);
        if (result === DONE) return undefined;
        throw this.#error();
      },
      finalize: () => {
        module._sqlite3_finalize(statement);
      },
    };
  }

  close(): void {
    this.#module._sqlite3_free(this.#out);
    this.#module._sqlite3_close(this.#db);
  }

  #row(statement: number): TestValue[] {
    const module = this.#module;
    return Array.from({ length: module._sqlite3_column_count(statement) }, (_, column) => {
      switch (module._sqlite3_column_type(statement, column)) {
        case 1:
        case 2:
          return module._sqlite3_column_double(statement, column);
        case 3:
          return module.UTF8ToString(module._sqlite3_column_text(statement, column));
        case 4:
          return `blob of ${module._sqlite3_column_bytes(statement, column)} bytes`;
        default:
          return null;
      }
    });
  }

  #error(): TestSqliteError {
    const module = this.#module;
    return new TestSqliteError(
      module._sqlite3_extended_errcode(this.#db),
      module.UTF8ToString(module._sqlite3_errmsg(this.#db)),
    );
  }

  #withText<T>(text: string, use: (pointer: number) => T): T {
    const module = this.#module;
    const sizeBytes = module.lengthBytesUTF8(text) + 1;
    const pointer = module._sqlite3_malloc(sizeBytes);
    module.stringToUTF8(text, pointer, sizeBytes);
    try {
      return use(pointer);
    } finally {
      module._sqlite3_free(pointer);
    }
  }
}

export interface TestStatement {
  /** Returns the next row, or `undefined` at the end. */
  step(): TestValue[] | undefined;
  finalize(): void;
}
