import type { SqlStatement } from './sql-statement.ts';

/**
 * What a tab asks in the course of a transaction that stays open from call to call. It is committed by a `WriteAction`.
 */
export type TransactionAsk =
  /** Answered when it is this transaction's turn. From then on it is rolled back after `timeoutMs`. */
  | { readonly kind: 'begin'; readonly atomic: boolean; readonly timeoutMs: number }
  | { readonly kind: 'query'; readonly statement: SqlStatement }
  | { readonly kind: 'execute'; readonly statement: SqlStatement }
  /**
   * Savepoints count from 1, each within the one before. `undo` takes back what was done since, and ends the savepoint.
   */
  | { readonly kind: 'savepoint' | 'release' | 'undo'; readonly depth: number }
  | { readonly kind: 'rollback' };
