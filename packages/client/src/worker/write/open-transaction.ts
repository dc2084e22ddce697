import { RockpoolError } from '@rockpool/shared';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement, StatementOutcome } from '../../rpc/sql-statement.ts';
import type { WriteOutcome } from '../../rpc/write-request.ts';
import { encodeRows } from '../sqlite/encode-rows.ts';
import { commit } from './commit.ts';
import { READ_POLICY } from './sql-policy.ts';
import type { WriteTransaction } from './write-transaction.ts';

/**
 * A transaction that stays open from call to call, on the connection of the writer:
 *
 *   BEGIN IMMEDIATE ─ capture on ─┬─ statements and savepoints, one at a time ─┬─ commit: as a write of one call has it
 *                                 └────────────────────────────────────────────┴─ rollback
 *
 * 1. It is one changeset: what a savepoint took back is not in it.
 * 2. After an error of `commit`, and after a statement that made SQLite end the transaction, it is over and nothing of
 *    it is kept.
 */
export class OpenTransaction {
  private readonly writer: WriteTransaction;
  private readonly atomic: boolean;
  private readonly tablesWritten = new Set<string>();
  private ended = false;

  /** The transaction has begun on the connection; this turns capture on. */
  constructor(writer: WriteTransaction, atomic: boolean) {
    this.writer = writer;
    this.atomic = atomic;
    try {
      writer.parts.capture.begin();
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  get isOver(): boolean {
    return this.ended;
  }

  /** Sees what the transaction wrote so far. */
  query({ sql, params }: SqlStatement): EncodedRows {
    return this.whileOpen(() => {
      const { connection, searchIndexes } = this.writer.parts;
      const statement = connection.prepare(sql, READ_POLICY);
      try {
        if (!statement.readOnly) throw new RockpoolError('sql-read-only');
        searchIndexes.catchUpFor(statement);
        statement.bindParams(params);
        return connection.underPolicy(READ_POLICY, () => encodeRows(statement, connection.runtime.memory));
      } finally {
        statement.release();
      }
    });
  }

  execute(statement: SqlStatement): StatementOutcome {
    return this.whileOpen(() => {
      const { writer } = this;
      const { results, tablesWritten } = writer.parts.connection.underPolicy(writer.policy, () =>
        writer.runStatements([statement]),
      );
      for (const table of tablesWritten) this.tablesWritten.add(table);
      return results[0] as StatementOutcome;
    });
  }

  savepoint(depth: number): void {
    this.whileOpen(() => this.writer.parts.connection.run(`SAVEPOINT ${savepointName(depth)}`));
  }

  release(depth: number): void {
    this.whileOpen(() => this.writer.parts.connection.run(`RELEASE ${savepointName(depth)}`));
  }

  /** Takes back what was done since the savepoint, and ends it. */
  undo(depth: number): void {
    this.whileOpen(() => {
      const { connection } = this.writer.parts;
      connection.run(`ROLLBACK TO ${savepointName(depth)}`);
      connection.run(`RELEASE ${savepointName(depth)}`);
    });
  }

  /** Rows, changeset and request id commit together, or the transaction is rolled back and this throws. */
  commit(requestId: string): WriteOutcome {
    return this.whileOpen(() => {
      const { capture, connection, requests, nowMs } = this.writer.parts;
      try {
        const captured = this.writer.takeCanonicalChanges();
        capture.end();
        const outcome = this.writer.appendChangeset(
          { results: [], tablesWritten: this.tablesWritten, atomic: this.atomic },
          captured,
        );
        requests.record(requestId, outcome, nowMs());
        commit(connection);
        this.ended = true;
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
  }

  private whileOpen<T>(run: () => T): T {
    if (this.ended) throw new RockpoolError('transaction-ended');
    try {
      return run();
    } catch (error) {
      // OR ROLLBACK, RAISE(ROLLBACK), and a full disk end the transaction themselves.
      if (!this.ended && !this.writer.parts.connection.inTransaction) this.rollback();
      throw error;
    }
  }
}

function savepointName(depth: number): string {
  return `rockpool_${depth}`;
}
