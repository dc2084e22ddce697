import { RockpoolError } from '@rockpool/shared';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement, StatementOutcome } from '../../rpc/sql-statement.ts';
import type { WriteOutcome } from '../../rpc/write-request.ts';
import { encodeRows } from '../sqlite/encode-rows.ts';
import { commit } from './commit.ts';
import { READ_POLICY } from '../sqlite/sql-policy.ts';
import type { WriteTransaction } from './write-transaction.ts';

/**
 * A transaction that stays open across calls, on the writer's connection:
 *
 *   BEGIN IMMEDIATE ─ capture on ─┬─ statements and savepoints, one at a time ─┬─ commit, like a write of one call
 *                                 └────────────────────────────────────────────┴─ rollback
 *
 * 1. The transaction becomes one changeset, without the changes that savepoints rolled back.
 * 2. After an error of `commit`, or a statement that makes SQLite end the transaction, everything is rolled back and
 *    the transaction is over.
 */
export class OpenTransaction {
  private readonly writer: WriteTransaction;
  private readonly atomic: boolean;
  private ended = false;

  /** Turns capture on. A transaction must have begun on the connection. */
  constructor(writer: WriteTransaction, atomic: boolean) {
    this.writer = writer;
    this.atomic = atomic;
    try {
      writer.beginCapture();
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  get isOver(): boolean {
    return this.ended;
  }

  /** Runs a query that sees the transaction's own writes. Throws `sql-read-only` for a statement that writes. */
  query({ sql, params }: SqlStatement): EncodedRows {
    return this.whileOpen(() => {
      const { connection, searchIndexes } = this.writer.parts;
      const statement = connection.prepare(sql, READ_POLICY);
      try {
        if (!statement.readOnly) throw new RockpoolError('sql-read-only');
        searchIndexes.catchUpFor(statement);
        statement.bindParams(params);
        return connection.underPolicy(READ_POLICY, () => encodeRows(statement));
      } finally {
        statement.release();
      }
    });
  }

  execute(statement: SqlStatement): StatementOutcome {
    return this.whileOpen(() => {
      const { writer } = this;
      const [result] = writer.parts.connection.underPolicy(writer.policy, () => writer.runStatements([statement]));
      return result as StatementOutcome;
    });
  }

  savepoint(depth: number): void {
    this.whileOpen(() => this.writer.parts.connection.run(`SAVEPOINT ${savepointName(depth)}`));
  }

  release(depth: number): void {
    this.whileOpen(() => this.writer.parts.connection.run(`RELEASE ${savepointName(depth)}`));
  }

  /** Rolls back to the savepoint and releases it. */
  undo(depth: number): void {
    this.whileOpen(() => {
      const { connection } = this.writer.parts;
      connection.run(`ROLLBACK TO ${savepointName(depth)}`);
      connection.run(`RELEASE ${savepointName(depth)}`);
      this.writer.reloadUndoneSchema();
    });
  }

  /** Commits rows, changeset and request id together. On an error it rolls the transaction back and throws. */
  commit(requestId: string): WriteOutcome {
    return this.whileOpen(() => {
      const { capture, connection, requests, nowMs } = this.writer.parts;
      try {
        const captured = this.writer.takeCanonicalChanges();
        capture.end();
        const outcome = this.writer.appendChangeset({ results: [], atomic: this.atomic }, captured);
        requests.record(requestId, outcome, nowMs());
        commit(connection);
        this.ended = true;
        connection.setTriggers(true);
        return outcome;
      } catch (error) {
        this.rollback();
        throw error;
      }
    });
  }

  rollback(): void {
    if (this.ended) return;
    this.ended = true;
    const { capture, connection } = this.writer.parts;
    capture.end();
    if (connection.inTransaction) connection.run('ROLLBACK');
    this.writer.forgetUndoneSchema();
    connection.setTriggers(true);
  }

  private whileOpen<T>(run: () => T): T {
    if (this.ended) throw new RockpoolError('transaction-ended');
    try {
      return run();
    } catch (error) {
      // OR ROLLBACK, RAISE(ROLLBACK) and a full disk end the transaction.
      if (!this.ended && !this.writer.parts.connection.inTransaction) this.rollback();
      throw error;
    }
  }
}

function savepointName(depth: number): string {
  return `rockpool_${depth}`;
}

/**
 * Begins a transaction that stays open until commit or rollback. Nothing else may write on this connection meanwhile.
 * `withoutTriggers`: the app's triggers do not run in it.
 */
export function beginTransaction(
  writer: WriteTransaction,
  { atomic, withoutTriggers = false }: { readonly atomic: boolean; readonly withoutTriggers?: boolean },
): OpenTransaction {
  const { connection } = writer.parts;
  // SQLite ignores this switch inside a transaction. Triggers are turned on again when the transaction ends.
  if (withoutTriggers) connection.setTriggers(false);
  try {
    connection.run('BEGIN IMMEDIATE');
  } catch (thrown) {
    connection.setTriggers(true);
    throw thrown;
  }
  return new OpenTransaction(writer, atomic);
}
