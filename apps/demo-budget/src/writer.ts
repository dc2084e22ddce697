import type {
  BatchOptions,
  Client,
  SqlParam,
  SqlStatement,
  StatementResult,
  TransactionOptions,
} from '@rockpool/client';

/**
 * The part of Rockpool's client that actions use. Actions take it as an argument, so that a test may pass any client.
 */
export interface Writer extends Pick<Client, 'query'> {
  execute(statement: SqlStatement): Promise<Pick<StatementResult, 'changes'>>;
  execute(sql: string, params?: readonly SqlParam[]): Promise<Pick<StatementResult, 'changes'>>;
  batch(
    statements: readonly SqlStatement[],
    options?: BatchOptions,
  ): Promise<readonly Pick<StatementResult, 'changes'>[]>;
  transaction<T>(body: (tx: TransactionWriter) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/** The part of a transaction that actions use. */
export interface TransactionWriter extends Pick<Client, 'query'> {
  execute(statement: SqlStatement): Promise<Pick<StatementResult, 'changes'>>;
}
