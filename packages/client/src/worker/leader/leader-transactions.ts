import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement, StatementOutcome } from '../../rpc/sql-statement.ts';
import type { TransactionAsk } from '../../rpc/transaction-ask.ts';
import type { Clock } from './clock.ts';
import type { WriterQueue } from './writer-queue.ts';

/** The part of a writer transaction that is used. */
export interface WriterTransaction<Outcome> {
  readonly isOver: boolean;
  query(statement: SqlStatement): EncodedRows;
  execute(statement: SqlStatement): StatementOutcome;
  savepoint(depth: number): void;
  release(depth: number): void;
  undo(depth: number): void;
  commit(requestId: string): Outcome;
  rollback(): void;
}

export interface LeaderTransactionsOptions<Outcome> {
  readonly writerQueue: WriterQueue;
  readonly begin: (options: {
    readonly atomic: boolean;
    readonly withoutTriggers: boolean;
  }) => WriterTransaction<Outcome>;
  readonly clock: Clock;
}

/** Calls back once when the tab that runs a transaction is gone, unless the returned function is called first. */
export type WatchOwner = (transactionId: string, onGone: () => void) => () => void;

type BeginAsk = Extract<TransactionAsk, { kind: 'begin' }>;

interface Held<Outcome> {
  readonly id: string;
  readonly transaction: WriterTransaction<Outcome>;
  /** Stops its timers and releases the writer to the next transaction. */
  readonly letGo: () => void;
}

/**
 * A transaction may end without a request of its tab, for example by timeout. Until the tab learns of the end, it may
 * still send requests for the transaction. Keeping the last few ends is enough.
 */
const REMEMBERED_ENDS = 100;

/**
 * The interactive transactions of tabs. One is open at a time on the writer's connection; the others queue. A
 * transaction ends when it is committed or rolled back, when it times out, when its tab is gone, or when the leader
 * steps down.
 */
export class LeaderTransactions<Outcome> {
  private readonly options: LeaderTransactionsOptions<Outcome>;
  private readonly waiting = new Map<string, (reason: RockpoolError) => void>();
  private readonly endedById = new Map<string, RockpoolError>();
  private held: Held<Outcome> | null = null;

  constructor(options: LeaderTransactionsOptions<Outcome>) {
    this.options = options;
  }

  async ask(id: string, ask: TransactionAsk, watchOwner: WatchOwner): Promise<StatementOutcome | null> {
    switch (ask.kind) {
      case 'begin':
        await this.begin(id, ask, watchOwner);
        return null;
      case 'rollback':
        this.end(id, new RockpoolError('transaction-ended'));
        return null;
      default:
        return this.carryOut(id, ask);
    }
  }

  isOpen(id: string): boolean {
    return this.held?.id === id;
  }

  /** Why a transaction is no longer open, if the reason is known: it timed out or has ended. */
  whyEnded(id: string): RockpoolError | null {
    return this.endedById.get(id) ?? null;
  }

  /**
   * Throws and rolls back if the transaction cannot be committed. `onCommitted` runs before the next transaction
   * begins.
   */
  commit<T>(id: string, onCommitted: (outcome: Outcome) => T): T {
    const { transaction, letGo } = this.require(id);
    this.held = null;
    try {
      return onCommitted(transaction.commit(id));
    } finally {
      letGo();
    }
  }

  /** Called when the leader steps down. Rolls back the open transaction and begins no other. */
  stop(): void {
    const lost = new RockpoolError('transaction-lost');
    for (const refuse of [...this.waiting.values()]) refuse(lost);
    if (this.held !== null) this.end(this.held.id, lost);
  }

  private begin(
    id: string,
    { atomic, timeoutMs, withoutTriggers = false }: BeginAsk,
    watchOwner: WatchOwner,
  ): Promise<void> {
    const { writerQueue, clock } = this.options;
    const begun = Promise.withResolvers<void>();
    this.endedById.delete(id); // An earlier attempt under the same id.
    const stopWatching = watchOwner(id, () => this.end(id, new RockpoolError('transaction-lost')));
    let giveUp = (): void => undefined;
    this.waiting.set(id, (reason) => {
      this.waiting.delete(id);
      stopWatching();
      giveUp();
      begun.reject(reason);
    });
    giveUp = writerQueue.hold((release) => {
      this.waiting.delete(id);
      try {
        const transaction = this.options.begin({ atomic, withoutTriggers });
        const cancelTimer = clock.after(timeoutMs, () =>
          this.end(id, new RockpoolError('transaction-timeout', { timeoutMs })),
        );
        const letGo = (): void => {
          cancelTimer();
          stopWatching();
          release();
        };
        this.held = { id, transaction, letGo };
        begun.resolve();
      } catch (thrown) {
        stopWatching();
        begun.reject(toRockpoolError(thrown));
        release();
      }
    });
    return begun.promise;
  }

  private carryOut(id: string, ask: Exclude<TransactionAsk, { kind: 'begin' | 'rollback' }>): StatementOutcome | null {
    const { transaction } = this.require(id);
    try {
      if (ask.kind === 'query') return { changes: 0, rows: transaction.query(ask.statement) };
      if (ask.kind === 'execute') return transaction.execute(ask.statement);
      transaction[ask.kind](ask.depth);
      return null;
    } finally {
      if (transaction.isOver) this.end(id, new RockpoolError('transaction-ended'));
    }
  }

  private require(id: string): Held<Outcome> {
    const { held } = this;
    if (held?.id === id) return held;
    throw this.whyEnded(id) ?? new RockpoolError('transaction-lost');
  }

  private end(id: string, reason: RockpoolError): void {
    this.waiting.get(id)?.(reason);
    const { held } = this;
    if (held?.id !== id) return;
    this.held = null;
    this.remember(id, reason);
    try {
      held.transaction.rollback();
    } finally {
      held.letGo();
    }
  }

  private remember(id: string, reason: RockpoolError): void {
    this.endedById.set(id, reason);
    if (this.endedById.size <= REMEMBERED_ENDS) return;
    const [oldest] = this.endedById.keys();
    if (oldest !== undefined) this.endedById.delete(oldest);
  }
}
