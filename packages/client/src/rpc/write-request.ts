import type { TableChange } from './query-dependencies.ts';
import type { SqlStatement, StatementOutcome } from './sql-statement.ts';
import type { WriteAction } from './write-action.ts';

export interface WriteRequest {
  /** Random, made by the requesting tab. A repeated request runs only once. */
  readonly id: string;
  /** The statements, run in this order in one transaction. */
  readonly statements: readonly SqlStatement[];
  readonly action?: WriteAction;
}

export interface WriteOutcome {
  /** One outcome per statement. */
  readonly results: readonly StatementOutcome[];
  /** The tables whose rows changed; for local tables, whose rows may have changed. */
  readonly touchedTables: readonly string[];
  /** The known changes in these tables; empty if the request ran before. */
  readonly changes: readonly TableChange[];
  /** The sequence of the changeset; null if no synced row changed. */
  readonly sequence: number | null;
  /** True if the request ran before; the other fields then repeat its outcome. */
  readonly repeated: boolean;
}
