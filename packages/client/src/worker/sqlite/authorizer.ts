import type { RockpoolError } from '@rockpool/shared';
import type { Pointer, SqliteModule } from './emscripten-module.ts';
import type { WasmMemory } from './wasm-memory.ts';

// Action codes of sqlite3_set_authorizer: https://www.sqlite.org/c3ref/c_alter_table.html
export const ACTION_CREATE_INDEX = 1;
export const ACTION_CREATE_TABLE = 2;
export const ACTION_CREATE_TEMP_INDEX = 3;
export const ACTION_CREATE_TEMP_TABLE = 4;
export const ACTION_CREATE_TEMP_TRIGGER = 5;
export const ACTION_CREATE_TEMP_VIEW = 6;
export const ACTION_CREATE_TRIGGER = 7;
export const ACTION_CREATE_VIEW = 8;
export const ACTION_DELETE = 9;
export const ACTION_DROP_INDEX = 10;
export const ACTION_DROP_TABLE = 11;
export const ACTION_DROP_TEMP_INDEX = 12;
export const ACTION_DROP_TEMP_TABLE = 13;
export const ACTION_DROP_TEMP_TRIGGER = 14;
export const ACTION_DROP_TEMP_VIEW = 15;
export const ACTION_DROP_TRIGGER = 16;
export const ACTION_DROP_VIEW = 17;
export const ACTION_INSERT = 18;
export const ACTION_PRAGMA = 19;
export const ACTION_READ = 20;
export const ACTION_TRANSACTION = 22;
export const ACTION_UPDATE = 23;
export const ACTION_ATTACH = 24;
export const ACTION_DETACH = 25;
export const ACTION_ALTER_TABLE = 26;
export const ACTION_CREATE_VTABLE = 29;
export const ACTION_DROP_VTABLE = 30;
export const ACTION_SAVEPOINT = 32;

const ALLOW = 0;
const DENY = 1;

/**
 * One action of a statement, as SQLite reports it during compilation. The meaning of the names depends on the action.
 */
export interface SqlAction {
  readonly code: number;
  /**
   * Usually the table. For ALTER TABLE the database, for a transaction or savepoint its verb, for a pragma its name.
   */
  readonly first: string;
  /** Usually the column. For ALTER TABLE the table, for an index or a trigger its table, for a pragma its argument. */
  readonly second: string;
  readonly database: string;
  /** The innermost trigger or view that causes the action; '' for the statement itself. */
  readonly trigger: string;
}

/** The rules for SQL that the app supplies. Called when a statement is compiled, not for each row. */
export interface SqlPolicy {
  /** Statements are cached separately for each name. */
  readonly name: string;
  /**
   * Returns the error that rejects the action, or null to allow it. `use` is what the statement uses so far, including
   * this action; null when the statement is recompiled.
   */
  refuse(action: SqlAction, use: TableUse | null): RockpoolError | null;
}

/**
 * The tables and views that a statement uses, as SQLite finds them during compilation, including those of triggers and
 * foreign-key actions.
 */
export interface TableUse {
  /** Table → its columns; '' when only the rows matter. */
  readonly read: Map<string, Set<string>>;
  /** Includes `sqlite_master` when the statement changes the schema. */
  readonly written: Set<string>;
  /** The tables that the statement creates triggers on. */
  readonly triggersOn: Set<string>;
}

/** Applies the current policy of one connection. Without a policy everything is allowed. */
export class Authorizer {
  private policy: SqlPolicy | undefined;
  private use: TableUse | null = null;
  private refusal: RockpoolError | null = null;
  private readonly memory: WasmMemory;
  private readonly detach: () => void;

  constructor(memory: WasmMemory, detach: () => void) {
    this.memory = memory;
    this.detach = detach;
  }

  /** Runs `body` under a policy, and adds the tables of the statements compiled in it to `use`. */
  during<T>(policy: SqlPolicy | undefined, use: TableUse | null, body: () => T): T {
    const before = { policy: this.policy, use: this.use };
    this.policy = policy;
    this.use = use;
    this.refusal = null;
    try {
      return body();
    } finally {
      this.policy = before.policy;
      this.use = before.use;
    }
  }

  /** Returns why the last statement was rejected; SQLite itself only reports "not authorized". */
  takeRefusal(): RockpoolError | null {
    const refusal = this.refusal;
    this.refusal = null;
    return refusal;
  }

  authorize(code: number, first: Pointer, second: Pointer, database: Pointer, trigger: Pointer): number {
    const { policy, memory } = this;
    if (code === ACTION_INSERT || code === ACTION_UPDATE || code === ACTION_DELETE)
      this.use?.written.add(memory.readCString(first));
    if (policy === undefined) return ALLOW;
    const action: SqlAction = {
      code,
      first: memory.readCString(first),
      second: memory.readCString(second),
      database: memory.readCString(database),
      trigger: memory.readCString(trigger),
    };
    if (code === ACTION_READ)
      this.use?.read.set(action.first, (this.use.read.get(action.first) ?? new Set()).add(action.second));
    else if (code === ACTION_CREATE_TRIGGER || code === ACTION_CREATE_TEMP_TRIGGER)
      this.use?.triggersOn.add(action.second);
    const refusal = policy.refuse(action, this.use);
    if (refusal === null) return ALLOW;
    this.refusal ??= refusal;
    return DENY;
  }

  remove(): void {
    this.detach();
  }
}

/** Makes an `Authorizer` check all statements compiled on this connection. */
export function installAuthorizer(module: SqliteModule, memory: WasmMemory, connection: Pointer): Authorizer {
  // wa-sqlite's `set_authorizer` keeps one callback for all connections, and frees it while other connections still use
  // it. The C function that it calls identifies a callback by the address of its flags, so each connection has its own
  // flags here. Flags of 0 mean that the callback is synchronous.
  const flags = memory.allocate(4);
  memory.bytes.fill(0, flags, flags + 4);
  const authorizer = new Authorizer(memory, () => {
    module._libauthorizer_set_authorizer(connection, 0, flags);
    module.deleteCallback(flags);
    memory.free(flags);
  });
  module.setCallback(
    flags,
    (_: Pointer, code: number, first: Pointer, second: Pointer, database: Pointer, trigger: Pointer) =>
      authorizer.authorize(code, first, second, database, trigger),
  );
  module._libauthorizer_set_authorizer(connection, 1, flags);
  return authorizer;
}
