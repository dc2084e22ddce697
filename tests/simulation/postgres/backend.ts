import { PostgresError } from './postgres-error.ts';
import { STATEMENTS, type Answer } from './statements.ts';
import type { LockKind, LockQueue } from './lock-queue.ts';
import { keyOfRow, type ModelRow, type ModelTable } from './model-tables.ts';
import type { CommitRow, DatabaseRow, ModelState, PostgresModel } from './postgres-model.ts';

/** The client's end of a connection. */
export interface Session {
  onNotification(payload: string): void;
  /** PostgreSQL has ended the connection with this SQLSTATE. */
  onEnd(sqlState: string): void;
}

const LOCK_TIMEOUT_MS = 10_000;
const IDLE_IN_TRANSACTION_MS = 30_000;

/** An open transaction. */
export class Transaction {
  readonly isReadOnly: boolean;
  readonly databases = new Map<string, DatabaseRow>();
  readonly commits: CommitRow[] = [];
  readonly prunedBefore = new Map<string, number>();
  readonly rows = new Map<ModelTable, Map<string, ModelRow | null>>();
  /** The remaining rows of each cursor. */
  readonly cursors = new Map<string, Answer>();
  readonly locks = new Set<LockQueue>();
  /** The snapshot of a transaction at REPEATABLE READ, which its first statement takes. */
  snapshot: ModelState | null = null;

  constructor(isReadOnly: boolean) {
    this.isReadOnly = isReadOnly;
  }
}

/** The process of PostgreSQL that serves one connection. */
export class Backend {
  readonly model: PostgresModel;
  readonly session: Session;
  isListening = false;
  transaction: Transaction | null = null;
  /** The statement that is being executed. */
  private sql = '';
  private hasFailed = false;
  private hasEnded = false;
  private readonly onEnd: () => void;
  private cancelIdle: () => void = () => undefined;

  constructor(model: PostgresModel, session: Session, onEnd: () => void) {
    this.model = model;
    this.session = session;
    this.onEnd = onEnd;
  }

  /** Executes a statement, once it has its locks. Calls back once, unless the connection ends before. */
  query(sql: string, parameters: readonly unknown[], done: (answer: Answer | PostgresError) => void): void {
    if (this.hasEnded) return;
    this.cancelIdle();
    const answered = (answer: Answer | PostgresError): void => {
      if (this.hasEnded) return;
      if (answer instanceof PostgresError && this.transaction !== null) this.hasFailed = true;
      this.waitForNext();
      done(answer);
    };
    if (this.hasFailed && !sql.startsWith('ROLLBACK')) return answered(new PostgresError('25P02'));
    this.reporting(sql, answered, () => this.execute(sql, parameters, answered));
  }

  /** Ends the connection and rolls back. With `sqlState`, PostgreSQL ends it; without, the client has ended it. */
  end(sqlState?: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.cancelIdle();
    this.onEnd();
    this.rollBack();
    if (sqlState !== undefined) this.session.onEnd(sqlState);
  }

  begin(isReadOnly: boolean): void {
    this.transaction = new Transaction(isReadOnly);
  }

  commit(): void {
    const { transaction } = this;
    // As in PostgreSQL: COMMIT of a failed transaction rolls it back.
    if (transaction !== null && !this.hasFailed) this.model.commit(transaction);
    this.rollBack();
  }

  rollBack(): void {
    const { transaction } = this;
    this.transaction = null;
    this.hasFailed = false;
    if (transaction === null) return;
    this.model.forget(transaction);
    for (const lock of transaction.locks) lock.release(transaction);
  }

  /** The state that a statement reads. */
  get state(): Omit<ModelState, 'rows'> & { rowsOf(table: string): ReadonlyMap<string, ModelRow> } {
    const { transaction, model } = this;
    if (transaction?.isReadOnly === true) {
      transaction.snapshot ??= model.snapshot(transaction);
      const { store, databases, commits, rows } = transaction.snapshot;
      return { store, databases, commits, rowsOf: (table) => rows.get(table) ?? new Map() };
    }
    const databases = transaction === null ? model.databases : new Map([...model.databases, ...transaction.databases]);
    return {
      store: model.store,
      databases,
      commits: model.commits,
      rowsOf: (table) => model.tables.get(table)?.rows ?? new Map(),
    };
  }

  /** Calls `then` once the transaction has the lock, or fails the statement after the timeout. */
  lock(queue: LockQueue, kind: LockKind, fail: (error: PostgresError) => void, then: () => void): void {
    const { transaction, sql } = this;
    if (transaction === null) throw new Error('the model supports locks only within transactions');
    if (queue.isHeldBy(transaction)) return then();
    const cancel = this.model.clock.after(LOCK_TIMEOUT_MS, () => {
      queue.release(transaction);
      fail(new PostgresError('55P03'));
    });
    transaction.locks.add(queue);
    queue.acquire(transaction, kind, () => {
      cancel();
      this.reporting(sql, fail, then);
    });
  }

  /** Returns the number of rows, or null for a key that already exists. */
  write(
    databaseId: string,
    kind: 'insert' | 'update' | 'delete',
    name: string,
    rows: readonly ModelRow[],
  ): number | null {
    const { transaction, model } = this;
    const table = model.tables.get(name);
    if (transaction === null || table === undefined) throw new Error(`the model has no table ${name} to write to`);
    const written = transaction.rows.get(table) ?? new Map<string, ModelRow | null>();
    transaction.rows.set(table, written);
    let changed = 0;
    for (const row of rows) {
      const key = keyOfRow(databaseId, table, row);
      const before = written.has(key) ? (written.get(key) ?? null) : (table.rows.get(key) ?? null);
      if (kind === 'insert' && before !== null) return null;
      if (kind !== 'insert' && before === null) continue;
      written.set(key, kind === 'delete' ? null : new Map([...(before ?? []), ...row]));
      changed++;
    }
    return changed;
  }

  listen(): void {
    this.isListening = true;
  }

  private execute(
    sql: string,
    parameters: readonly unknown[],
    answered: (answer: Answer | PostgresError) => void,
  ): void {
    for (const { pattern, run } of STATEMENTS) {
      const match = pattern.exec(sql);
      if (match !== null) return run({ backend: this, match, parameters, sql }, answered);
    }
    throw new Error('it is not in statements.ts');
  }

  /**
   * Executes a part of a statement. What the model cannot do fails the statement, so that nobody waits for a response,
   * and the test: the store would take it for an unavailable PostgreSQL and try again.
   */
  private reporting(sql: string, fail: (error: PostgresError) => void, body: () => void): void {
    this.sql = sql;
    try {
      body();
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      const error = new PostgresError(
        '0A000',
        `the model of PostgreSQL cannot execute this statement, ${reason}: ${sql}`,
      );
      fail(error);
      this.model.onUnsupported(error);
    }
  }

  private waitForNext(): void {
    if (this.transaction !== null)
      this.cancelIdle = this.model.clock.after(IDLE_IN_TRANSACTION_MS, () => this.end('25P03'));
  }
}
