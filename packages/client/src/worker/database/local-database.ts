import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlParam } from '../../rpc/sql-value.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { QueryDependencies } from '../../rpc/query-dependencies.ts';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import type { OpenTransaction } from '../write/open-transaction.ts';
import type { SchemaInstallation } from './install-schema.ts';

export interface SchemaState {
  /** Of the synced tables. */
  readonly hash: string;
  readonly installation: SchemaInstallation;
}

/** The app's database in one worker. Everything is synchronous; every failure is a RockpoolError. */
export interface LocalDatabase {
  /** 16 bytes. Another one once the file turns out to be a copy. */
  readonly siteId: Uint8Array;
  readonly role: 'writer' | 'reader';
  /**
   * Rows of one statement that reads. Throws `sql-read-only` for one that writes, `sql-forbidden` for what apps may not
   * do, `query-invalid` for SQL that SQLite does not accept.
   */
  query(sql: string, params: readonly SqlParam[]): EncodedRows;
  /** What a query reads: tables, views and virtual tables. */
  dependencies(statement: SqlStatement): QueryDependencies;
  /**
   * One transaction: all statements, the changeset that says what they changed, and the request's id; or nothing at
   * all. Throws, beside the errors of `query` and of constraints, `value-invalid` for a value and `changeset-too-large`
   * for a transaction that could never be sent, `sql-read-only` on a reader, and `app-outdated` where a newer bundle
   * has changed the database in a way that this one's statements do not fit. Actions throw `changeset-not-rejected`,
   * `changeset-undecided` and `conflict-not-restorable`.
   */
  write(request: WriteRequest): WriteOutcome;
  /**
   * Begins a transaction that stays open; until it is over neither `query` nor `write` nor `begin` may be called.
   * Throws `sql-read-only` on a reader.
   */
  begin(options: { readonly atomic: boolean }): OpenTransaction;
  schemaState(): SchemaState;
  /** Further calls throw `client-closed`. */
  close(): void;
}
