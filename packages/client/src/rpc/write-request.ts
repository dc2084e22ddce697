import type { TableChange } from './query-dependencies.ts';
import type { SqlStatement, StatementOutcome } from './sql-statement.ts';
import type { WriteAction } from './write-action.ts';

export interface WriteRequest {
  /** Random, made by the tab that asks: a request is carried out once, however often it comes. */
  readonly id: string;
  /** Run in this order, in one transaction. */
  readonly statements: readonly SqlStatement[];
  readonly action?: WriteAction;
}

export interface WriteOutcome {
  /** One per statement. */
  readonly results: readonly StatementOutcome[];
  /** Tables in which rows changed. For tables that are not synced: in which rows may have changed. */
  readonly touchedTables: readonly string[];
  /** What is known of the changes in them; nothing when it was carried out before. */
  readonly changes: readonly TableChange[];
  /** The number of the changeset, null when nothing synced changed. */
  readonly sequence: number | null;
  /** True when this request had been carried out before: the rest is the outcome of that time. */
  readonly repeated: boolean;
}
