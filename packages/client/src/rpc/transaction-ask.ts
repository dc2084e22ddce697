import type { SqlStatement } from './sql-statement.ts';

/** A step of a transaction that stays open between calls. A `WriteAction` commits it. */
export type TransactionAsk =
  /** Answered when the transaction begins. From then on, it is rolled back after `timeoutMs`. */
  | {
      readonly kind: 'begin';
      readonly atomic: boolean;
      readonly timeoutMs: number;
      /** If true, the app's triggers do not run. */
      readonly withoutTriggers?: boolean;
    }
  | { readonly kind: 'query'; readonly statement: SqlStatement }
  | { readonly kind: 'execute'; readonly statement: SqlStatement }
  /** Savepoints are numbered from 1, each nested in the previous. `undo` rolls back to the savepoint and ends it. */
  | { readonly kind: 'savepoint' | 'release' | 'undo'; readonly depth: number }
  | { readonly kind: 'rollback' };
