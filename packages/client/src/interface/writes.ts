import type { SqlStatement, StatementResult } from '../rpc/sql-statement.ts';
import type { SqlParam, SqlRow, SqlValue } from '../rpc/sql-value.ts';

/** The promise of a write. It settles when the write is committed on this device; `synced` settles later. */
export interface Write<T> extends Promise<T> {
  /**
   * Resolves when the server has admitted the write; immediately if the write changed no synced table. Stays pending
   * while there is no network. It survives a change of leader. If the page closes first, the write is still sent.
   *
   * Rejects with the error of the write itself, except `storage-unflushed`; with the reason if the write is rejected
   * (`constraint-…`, `atomic-conflict`); with `config-invalid` if the client has no server; and with `client-closed`.
   *
   * ```ts
   * const write = client.execute(sql`INSERT INTO booking (id, seat) VALUES (${id}, ${seat})`);
   * await write; // safe on this device
   * await write.synced; // nobody else has the seat
   * ```
   */
  readonly synced: Promise<void>;
}

export interface BatchOptions {
  /**
   * If true, the merge keeps the transaction whole: if any part loses to a concurrent write of another device, the
   * server rejects all of it with `atomic-conflict`. Default false: the part that loses is stored in the conflict log,
   * and the rest takes effect.
   */
  readonly atomic?: boolean;
}

/** A result by column. */
export interface ResultColumns {
  readonly rowCount: number;
  /**
   * Values by column name; of two columns with the same name, the later one. Numeric columns are a `Float64Array`, in
   * which NULL is NaN; all others are arrays of plain values.
   */
  readonly columns: Readonly<Record<string, Float64Array | readonly SqlValue[]>>;
}

export interface TransactionOptions extends BatchOptions {
  /**
   * How long the transaction may stay open, not counting the wait for the writer. More than 0 and at most 8000, because
   * writes of all tabs wait meanwhile. Default 5000.
   */
  readonly timeoutMs?: number;
  /** Rolls the transaction back when aborted. Has no effect once the body has resolved. */
  readonly signal?: AbortSignal;
}

/** The operations of an open transaction. Usable until its body settles. */
export interface Transaction {
  /** Sees the writes of this transaction so far. */
  query<Row extends object = SqlRow>(statement: SqlStatement): Promise<Row[]>;
  query<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<Row[]>;
  /** A statement that fails is rolled back alone. The transaction continues if `body` catches the error. */
  execute<Row extends object = SqlRow>(statement: SqlStatement): Promise<StatementResult<Row>>;
  execute<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<StatementResult<Row>>;
  /**
   * Runs a nested transaction on a savepoint: if `body` throws, only its own writes are rolled back. The outer
   * transaction rejects statements with `sql-forbidden` until the nested one settles.
   */
  transaction<T>(body: (tx: Transaction) => Promise<T> | T): Promise<T>;
}
