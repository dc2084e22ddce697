import type { RowKey } from '../rpc/row-key.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlParam, SqlRow } from '../rpc/sql-value.ts';

/**
 * A moment of the server's database: a time by the server's clock, as a Date or in ms since 1970, or a version of any
 * row (`RowVersion.version`, or its name), which includes the whole changeset of that version.
 */
export type PastMoment =
  | { readonly time: Date | number }
  | { readonly version: number }
  | {
      readonly name: string;
      readonly table: string;
      readonly key: RowKey;
      /** The document column whose version has the name. Default: a version of the row has it. */
      readonly column?: string;
    };

export interface PastOptions {
  readonly onProgress?: (progress: { readonly receivedBytes: number; readonly totalBytes: number }) => void;
}

/** The database at a past moment. */
export interface PastState {
  /**
   * The version that the state contains. For a moment given as a time, the last changeset that the server had received
   * by then.
   */
  readonly version: number;
  /** When the server received that changeset, in ms since 1970. */
  readonly receivedMs: number;
  /**
   * The current columns that did not exist at that time. The state has them nevertheless, so that current queries run;
   * every row has their default.
   */
  readonly laterColumns: readonly { readonly table: string; readonly column: string }[];
  /** Runs a SELECT. Rejects like Client.query, and with `history-not-kept` for a table without a history. */
  query<Row extends object = SqlRow>(statement: SqlStatement): Promise<Row[]>;
  query<Row extends object = SqlRow>(sql: string, params?: readonly SqlParam[]): Promise<Row[]>;
  /** Frees its memory. Later queries reject with `client-closed`. */
  close(): Promise<void>;
}
