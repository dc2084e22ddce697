import { RockpoolError } from '@rockpool/shared';
import type { Transaction, TransactionOptions } from '../interface/writes.ts';
import { decodeRows } from '../rpc/rows-transfer.ts';
import type { SqlStatement, StatementOutcome, StatementResult } from '../rpc/sql-statement.ts';
import type { SqlParam } from '../rpc/sql-value.ts';
import { toStatementResult } from '../rpc/statement-result.ts';
import type { TransactionAsk } from '../rpc/transaction-ask.ts';
import type { OwnTransaction, OwnTransactions } from './own-transactions.ts';
import { toStatement } from './sql.ts';

/** The worker's interface for transactions. */
export interface TransactionSource {
  transact(transactionId: string, ask: TransactionAsk): Promise<StatementOutcome | null>;
  commit(transactionId: string): Promise<void>;
}

/** Options of Rockpool's own transactions. */
export interface OwnOptions {
  /** The request id, for a transaction that must not run twice. */
  readonly requestId?: string;
  /** If true, the app's triggers do not run. */
  readonly withoutTriggers?: boolean;
}

export type TransactionBody<T> = (tx: Transaction) => Promise<T> | T;

/**
 * Long enough for the page's own computation between statements, and short enough that waiting writers do not give up.
 */
export const DEFAULT_TIMEOUT_MS = 5_000;

/** Less than the ten seconds after which waiting writes of other tabs fail. */
const LONGEST_TIMEOUT_MS = 8_000;

/** Begins, runs the body and commits. Rolls back if the body fails, the time limit is reached or the signal aborts. */
export async function runTransaction<T>(
  source: TransactionSource,
  transactionId: string,
  body: TransactionBody<T>,
  options: TransactionOptions & OwnOptions,
  beside: OwnTransactions,
): Promise<T> {
  const { atomic = false, timeoutMs = DEFAULT_TIMEOUT_MS, signal, withoutTriggers = false } = options;
  if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS))
    throw new RockpoolError('config-invalid', {
      problem: `timeoutMs must be more than 0 and at most ${LONGEST_TIMEOUT_MS}`,
    });
  const interruption = interruptionBy(signal);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const own = beside.begin();
  const steps = new Steps(source, transactionId, own);
  try {
    await Promise.race([steps.ask({ kind: 'begin', atomic, timeoutMs, withoutTriggers }), interruption.promise]);
    timer = setTimeout(() => interruption.reject(timedOut(timeoutMs, beside.othersCount)), timeoutMs);
    const result = await Promise.race([new Level(steps, 0).run(body), interruption.promise]);
    steps.isOver = true;
    const committed = source.commit(transactionId);
    own.end(); // Waiting writes run after the commit.
    await committed;
    return result;
  } catch (thrown) {
    const rolledBack = steps.isOver || steps.rollback();
    // The next attempt begins under the same id, so it must not overtake the rollback.
    if (options.requestId !== undefined) await rolledBack;
    throw thrown;
  } finally {
    own.end();
    clearTimeout(timer);
    interruption.stop();
  }
}

/** Returns a promise that rejects when the signal aborts, unless `stop` is called first. Throws if it has aborted. */
export function interruptionBy(
  signal: AbortSignal | undefined,
): PromiseWithResolvers<never> & { readonly stop: () => void } {
  signal?.throwIfAborted();
  const interruption = Promise.withResolvers<never>();
  interruption.promise.catch(() => undefined); // Prevents an unhandled rejection while nothing waits for it.
  const onAbort = (): void => interruption.reject(signal?.reason);
  signal?.addEventListener('abort', onAbort);
  return { ...interruption, stop: () => signal?.removeEventListener('abort', onAbort) };
}

function timedOut(timeoutMs: number, writesWaiting: number): RockpoolError {
  return new RockpoolError('transaction-timeout', {
    timeoutMs,
    ...(writesWaiting > 0 && {
      writesWaiting,
      problem: 'writes outside the transaction wait for it; write through `tx`',
    }),
  });
}

/** Sends the steps of one transaction, one at a time, and rejects steps after its end. */
class Steps {
  isOver = false;
  // The constructor sets these fields; a declaration adds nothing to the page's code.
  declare private readonly source: TransactionSource;
  declare private readonly transactionId: string;
  declare private readonly own: OwnTransaction;

  constructor(source: TransactionSource, transactionId: string, own: OwnTransaction) {
    this.source = source;
    this.transactionId = transactionId;
    this.own = own;
  }

  async ask(ask: TransactionAsk): Promise<StatementOutcome | null> {
    if (this.isOver) throw new RockpoolError('transaction-ended');
    return this.own.during(this.source.transact(this.transactionId, ask));
  }

  rollback(): Promise<unknown> {
    this.isOver = true;
    // If the worker is gone, the transaction is gone too.
    return this.source.transact(this.transactionId, { kind: 'rollback' }).catch(() => undefined);
  }
}

/** The transaction itself (depth 0), or a nested one: a savepoint. */
class Level implements Transaction {
  // See Steps.
  declare private readonly steps: Steps;
  declare private readonly depth: number;
  private readonly pending = new Set<Promise<unknown>>();
  private hasNested = false;
  private isOver = false;

  constructor(steps: Steps, depth: number) {
    this.steps = steps;
    this.depth = depth;
  }

  async run<T>(body: TransactionBody<T>): Promise<T> {
    try {
      const result = await body(this);
      // Statements that the body did not await belong to the transaction, and so do their failures.
      await Promise.all(this.pending);
      return result;
    } finally {
      this.isOver = true;
    }
  }

  async query<Row extends object>(given: SqlStatement | string, params?: readonly SqlParam[]): Promise<Row[]> {
    const { rows } = await this.statement('query', toStatement(given, params));
    return rows === undefined ? [] : (decodeRows(rows) as Row[]);
  }

  async execute<Row extends object>(
    given: SqlStatement | string,
    params?: readonly SqlParam[],
  ): Promise<StatementResult<Row>> {
    return toStatementResult(await this.statement('execute', toStatement(given, params)));
  }

  transaction<T>(body: TransactionBody<T>): Promise<T> {
    return this.track(this.nest(body));
  }

  private async statement(kind: 'query' | 'execute', statement: SqlStatement): Promise<StatementOutcome> {
    this.requireUsable();
    return (await this.track(this.steps.ask({ kind, statement }))) as StatementOutcome; // Null for other steps only.
  }

  private async nest<T>(body: TransactionBody<T>): Promise<T> {
    this.requireUsable();
    const { steps } = this;
    const depth = this.depth + 1;
    this.hasNested = true;
    try {
      await steps.ask({ kind: 'savepoint', depth });
      const result = await new Level(steps, depth).run(body).catch(async (thrown: unknown) => {
        if (!steps.isOver) await steps.ask({ kind: 'undo', depth });
        throw thrown;
      });
      await steps.ask({ kind: 'release', depth });
      return result;
    } finally {
      this.hasNested = false;
    }
  }

  private requireUsable(): void {
    if (this.isOver || this.steps.isOver) throw new RockpoolError('transaction-ended');
    // Writes of the outer transaction would vanish with the savepoint of the nested one.
    if (this.hasNested)
      throw new RockpoolError('sql-forbidden', {
        problem: 'a nested transaction is open; use it, or wait for its end',
      });
  }

  private track<T>(promise: Promise<T>): Promise<T> {
    this.pending.add(promise);
    const remove = (): void => void this.pending.delete(promise);
    promise.then(remove, remove);
    return promise;
  }
}
