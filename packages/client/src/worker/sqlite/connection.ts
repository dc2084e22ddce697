import { RockpoolError } from '@rockpool/shared';
import type { SqlParam, SqlValue } from '../../rpc/sql-value.ts';
import { installAuthorizer, type Authorizer, type SqlPolicy, type TableUse } from './authorizer.ts';
import type { Pointer } from './emscripten-module.ts';
import { internalTablesIn, KnownValues, mayUndo, type TableWrites } from './known-values.ts';
import {
  SQLITE_AUTH,
  SQLITE_DBCONFIG_DEFENSIVE,
  SQLITE_ERROR,
  SQLITE_OK,
  SQLITE_OPEN_CREATE,
  SQLITE_OPEN_READONLY,
  SQLITE_OPEN_READWRITE,
  SQLITE_PREPARE_PERSISTENT,
} from './result-codes.ts';
import { sqliteError } from './sqlite-error.ts';
import type { SqliteRuntime } from './sqlite-runtime.ts';
import { Statement } from './statement.ts';
import { StatementCache } from './statement-cache.ts';

export interface ConnectionOptions {
  /** A path in the given VFS, or ':memory:'. */
  readonly path: string;
  /** A VFS registered with the same module. Default: SQLite's own. */
  readonly vfsName?: string;
  readonly readOnly?: boolean;
  /**
   * Whether no other connection writes to the file while this one is open, so that values read from it can be cached.
   * Default false.
   */
  readonly isOnlyWriter?: boolean;
  /**
   * Called after a storage failure with its primary result code: the VFS knows the reason, while SQLite reports only
   * the failure. Null if the VFS did not cause it, as when SQLite finds damage.
   */
  readonly storageError?: (primaryCode: number) => RockpoolError | null;
}

/** One connection to one database. All calls are synchronous; errors are RockpoolErrors. */
export class Connection {
  readonly runtime: SqliteRuntime;
  /**
   * 0 once closed. Statements and `exec` then fail, while the address of freed memory may belong to another connection.
   * Read no other property of a closed connection.
   */
  handle: Pointer;
  /** The tables that prepared statements may write, since the caller has cleared the set. */
  readonly tablesWritten: Set<string> = new Set();
  private readonly storageError: (primaryCode: number) => RockpoolError | null;
  private readonly isOnlyWriter: boolean;
  private readonly authorizer: Authorizer;
  private readonly cache: StatementCache<Statement> = new StatementCache();
  private readonly openStatements: Set<Statement> = new Set();
  private readonly word: Pointer;
  private recordings = 0;
  private hasTriggers = true;
  private hasForeignKeys = false;
  private readonly known: KnownValues = new KnownValues();

  constructor(runtime: SqliteRuntime, options: ConnectionOptions) {
    const { module, memory } = runtime;
    this.runtime = runtime;
    this.storageError = options.storageError ?? ((): null => null);
    this.isOnlyWriter = options.isOnlyWriter ?? false;
    this.word = memory.allocate(8);
    const path = memory.allocateCString(options.path);
    const vfsName = options.vfsName === undefined ? 0 : memory.allocateCString(options.vfsName);
    const flags = options.readOnly === true ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const result = module._sqlite3_open_v2(path, this.word, flags, vfsName);
    this.handle = memory.readPointer(this.word);
    memory.free(path);
    if (vfsName !== 0) memory.free(vfsName);
    if (result !== SQLITE_OK) {
      const error =
        result === SQLITE_ERROR
          ? new RockpoolError('internal', { problem: 'SQLite has no VFS with this name' })
          : this.lastError(result, 'step');
      module._sqlite3_close_v2(this.handle);
      memory.free(this.word);
      throw error;
    }
    module._sqlite3_extended_result_codes(this.handle, 1);
    this.authorizer = installAuthorizer(module, memory, this.handle);
  }

  /** Runs one or more internal statements, without parameters and without a policy. */
  exec(sql: string): void {
    const { module, memory } = this.runtime;
    const text = memory.allocateCString(sql);
    const result = module._sqlite3_exec(this.handle, text, 0, 0, 0);
    // `exec` may fail after some of its statements ran, but the phase only selects the message, and internal SQL
    // contains no values.
    const error = result === SQLITE_OK ? null : this.lastError(result, 'prepare');
    memory.free(text);
    if (mayUndo(sql)) this.known.forgetAll();
    if (error !== null) throw error;
  }

  /**
   * Prepares one statement, or reuses an idle one with the same SQL. Return it with `release()`. Throws `sql-forbidden`
   * for a statement that the policy does not allow; without a policy everything is allowed.
   */
  prepare(sql: string, policy?: SqlPolicy): Statement {
    const idle = this.cache.in({
      isRecorded: this.recordings > 0,
      hasTriggers: this.hasTriggers,
      hasForeignKeys: this.hasForeignKeys,
      policy: policy?.name ?? '',
    });
    const statement = idle.get(sql) ?? this.compile(sql, policy, idle);
    idle.delete(sql);
    for (const table of statement.tablesWritten) this.tablesWritten.add(table);
    return statement;
  }

  private compile(sql: string, policy: SqlPolicy | undefined, home: Map<string, Statement>): Statement {
    // SQLite would write to `word`, which is freed, before it rejects NULL.
    if (this.handle === 0) throw new RockpoolError('internal', { problem: 'the connection is closed' });
    const { module, memory } = this.runtime;
    const text = memory.allocateCString(sql);
    const tail = memory.allocate(4);
    const use: TableUse = { read: new Map(), written: new Set(), triggersOn: new Set() };
    const result = this.authorizer.during(policy, use, () =>
      module._sqlite3_prepare_v3(this.handle, text, -1, SQLITE_PREPARE_PERSISTENT, this.word, tail),
    );
    const handle = memory.readPointer(this.word);
    const rest = memory.readCString(memory.readPointer(tail));
    const error = result === SQLITE_OK ? null : this.lastError(result, 'prepare');
    memory.free(text);
    memory.free(tail);
    if (error !== null) throw error;
    if (handle === 0) throw new RockpoolError('query-invalid', { problem: 'the SQL contains no statement' });
    if (!isBlank(rest)) {
      module._sqlite3_finalize(handle);
      throw new RockpoolError('query-invalid', { problem: 'the SQL contains more than one statement' });
    }
    const written = internalTablesIn(sql).map((table) => this.known.writesOf(table));
    const statement = new Statement(this, this.runtime, handle, {
      sql,
      home,
      use,
      written,
      mayUndo: mayUndo(sql),
    });
    this.openStatements.add(statement);
    return statement;
  }

  /** Runs `body` so that the same policy applies to statements that SQLite recompiles in it after a schema change. */
  underPolicy<T>(policy: SqlPolicy, body: () => T): T {
    return this.authorizer.during(policy, null, body);
  }

  /** Runs one internal statement with parameters. */
  run(sql: string, ...params: readonly SqlParam[]): void {
    const statement = this.prepare(sql);
    try {
      statement.run(...params);
    } finally {
      statement.release();
    }
  }

  /** Returns all rows of an internal query as arrays of API values. */
  rows(sql: string, ...params: readonly SqlParam[]): SqlValue[][] {
    const statement = this.prepare(sql);
    try {
      statement.bindParams(params);
      const rows: SqlValue[][] = [];
      while (statement.step()) rows.push(statement.readValues());
      return rows;
    } finally {
      statement.release();
    }
  }

  /**
   * Returns the first row of an internal query without parameters that reads only `table`; undefined when there is no
   * row. Keeps it until this connection writes the table, so the connection must be the file's only writer.
   */
  knownRow(table: string, sql: string): readonly SqlValue[] | undefined {
    return this.isOnlyWriter ? this.known.row(table, sql, this.readFirst) : this.readFirst(sql);
  }

  /** The first column of `knownRow`. */
  knownValue(table: string, sql: string): SqlValue | undefined {
    return this.knownRow(table, sql)?.[0];
  }

  /** Counts the writes to an internal table; null if other connections may write it too. */
  writesOf(table: string): TableWrites | null {
    return this.isOnlyWriter ? this.known.writesOf(table) : null;
  }

  private readonly readFirst = (sql: string): readonly SqlValue[] | undefined => this.rows(sql)[0];

  /** Call after a rollback, and after the medium has undone commits that had returned. */
  forgetKnownValues(): void {
    this.known.forgetAll();
  }

  /** Returns the first column of the first row; undefined when there is no row. */
  value(sql: string, ...params: readonly SqlParam[]): SqlValue | undefined {
    const statement = this.prepare(sql);
    try {
      statement.bindParams(params);
      return statement.step() ? statement.readValue(0) : undefined;
    } finally {
      statement.release();
    }
  }

  /** Rows changed by the last INSERT, UPDATE or DELETE, without those of triggers. */
  get changes(): number {
    return this.runtime.module._sqlite3_changes(this.handle);
  }

  /** Rows changed since opening, including those of triggers and foreign-key actions. */
  get totalChanges(): number {
    return this.runtime.module._sqlite3_total_changes(this.handle);
  }

  get inTransaction(): boolean {
    return this.runtime.module._sqlite3_get_autocommit(this.handle) === 0;
  }

  /** Enables or disables triggers. Outside a transaction only. */
  setTriggers(enabled: boolean): void {
    if (enabled !== this.hasTriggers) this.setRowEffects(enabled, this.hasForeignKeys);
  }

  /** Enables or disables foreign keys and their actions. Outside a transaction only. */
  setForeignKeys(enabled: boolean): void {
    this.setRowEffects(this.hasTriggers, enabled);
  }

  private setRowEffects(triggers: boolean, foreignKeys: boolean): void {
    const { module } = this.runtime;
    const result = module._rockpool_row_effects(this.handle, triggers ? 1 : 0, foreignKeys ? 1 : 0);
    if (result !== SQLITE_OK) throw this.lastError(result, 'step');
    this.hasTriggers = triggers;
    this.hasForeignKeys = foreignKeys;
  }

  /** Forbids direct writes to shadow tables and to sqlite_schema. */
  setDefensive(enabled: boolean): void {
    this.setConfig(SQLITE_DBCONFIG_DEFENSIVE, enabled);
  }

  private setConfig(option: number, enabled: boolean): void {
    const { module, memory } = this.runtime;
    // The variadic arguments as WebAssembly's C ABI passes them: an int and a pointer that may be NULL.
    const bytes = memory.bytes;
    bytes.fill(0, this.word, this.word + 8);
    bytes[this.word] = enabled ? 1 : 0;
    const result = module._sqlite3_db_config(this.handle, option, this.word);
    if (result !== SQLITE_OK) throw this.lastError(result, 'step');
  }

  /** Returns the error for a result code that a call on this connection has just returned. */
  lastError(result: number, phase: 'prepare' | 'step'): RockpoolError {
    const { module, memory } = this.runtime;
    // A failure may have rolled the transaction back.
    this.known.forgetAll();
    const primaryCode = result & 0xff;
    if (primaryCode === SQLITE_AUTH) {
      const refusal = this.authorizer.takeRefusal();
      if (refusal !== null) return refusal;
    }
    // These functions accept NULL, the handle of a connection that ran out of memory while it opened.
    const resultCode = module._sqlite3_extended_errcode(this.handle);
    const message = memory.readCString(module._sqlite3_errmsg(this.handle));
    const offset = module._sqlite3_error_offset(this.handle);
    const error = sqliteError({
      resultCode: (resultCode & 0xff) === primaryCode ? resultCode : result,
      message,
      phase,
      offset,
    });
    return error.code.startsWith('storage-') ? (this.storageError(primaryCode) ?? error) : error;
  }

  /** Called by `RowCapture` when it begins or ends recording changes of this connection. */
  recordingChanged(count: 1 | -1): void {
    this.recordings += count;
  }

  /** Called by `Statement.release` only. */
  recycle(statement: Statement): void {
    if (this.handle === 0) statement.finalize();
    else this.cache.keep(statement);
  }

  /** Drops idle statements after a schema change, because their recorded tables may be wrong. */
  dropIdleStatements(): void {
    this.cache.finalizeAll();
  }

  /** Called by `Statement.finalize` only. */
  forget(statement: Statement): void {
    this.openStatements.delete(statement);
  }

  /** Closes the connection and rolls back an open transaction. Its statements must not be used afterwards. */
  close(): void {
    const { handle } = this;
    if (handle === 0) return;
    for (const statement of this.openStatements) statement.finalize();
    this.authorizer.remove();
    this.handle = 0;
    this.runtime.module._sqlite3_close_v2(handle);
    this.runtime.memory.free(this.word);
  }
}

/** Whether the SQL has only white space, semicolons and comments. */
function isBlank(sql: string): boolean {
  return /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))*$/.test(sql);
}
