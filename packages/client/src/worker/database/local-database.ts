import type { RockpoolError } from '@rockpool/shared';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlParam } from '../../rpc/sql-value.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { QueryDependencies } from '../../rpc/query-dependencies.ts';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import type { OpenTransaction } from '../write/open-transaction.ts';

/** The app's database in one worker. All calls are synchronous; every failure is a RockpoolError. */
export interface LocalDatabase {
  /** 16 bytes. Changes when the file turns out to be a copy. */
  readonly siteId: Uint8Array;
  readonly role: 'writer' | 'reader';
  /**
   * Returns the rows of one reading statement. Throws `sql-read-only` for a statement that writes, `sql-forbidden` for
   * one that apps may not run, and `query-invalid` for SQL that SQLite does not accept.
   */
  query(sql: string, params: readonly SqlParam[]): EncodedRows;
  /** The tables, views and virtual tables that a query reads. */
  dependencies(statement: SqlStatement): QueryDependencies;
  /**
   * Commits all statements, the changeset of their changes and the request's id in one transaction, or nothing. Besides
   * the errors of `query` and of constraints, throws `value-invalid` for a value that cannot be stored or sent,
   * `changeset-too-large` for a transaction that could never be sent, `sql-read-only` on a reader, and `app-outdated`
   * when a newer bundle has changed the database in a way that this bundle's statements do not fit. Actions throw
   * `changeset-not-rejected`, `changeset-undecided` and `conflict-not-restorable`. Throws `refusal`, if given, unless
   * the request has been committed before.
   */
  write(request: WriteRequest, refusal?: RockpoolError): WriteOutcome;
  /**
   * Begins a transaction that stays open. Until it ends, `query`, `write` and `begin` must not be called. Throws
   * `sql-read-only` on a reader.
   */
  begin(options: { readonly atomic: boolean; readonly withoutTriggers?: boolean }): OpenTransaction;
  /** Later calls throw ReadInterrupted, so that they are repeated at the next leader. */
  close(): void;
}
