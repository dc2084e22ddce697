import type { SqlStatement } from './sql-statement.ts';
import type { EncodedRows } from './rows-transfer.ts';

/** The moment of a past state. */
export interface PastFacts {
  /** The version of its content: the watermark of the last changeset in it. */
  readonly version: number;
  /** When the server received that changeset, in ms since 1970. */
  readonly receivedMs: number;
  /** See PastState. */
  readonly laterColumns: readonly { readonly table: string; readonly column: string }[];
}

/** The requests of a page about past states. The page creates their ids. */
export type PastAsk =
  /** Downloads a past state. `moment` is the query string of the request. The result is PastFacts. */
  | { readonly kind: 'open'; readonly id: string; readonly moment: string }
  /** The result is the rows, or null if the past state is not open because the worker has been restarted. */
  | { readonly kind: 'query'; readonly id: string; readonly statement: SqlStatement }
  | { readonly kind: 'close'; readonly id: string };

export type PastAnswer = PastFacts | EncodedRows | null;
