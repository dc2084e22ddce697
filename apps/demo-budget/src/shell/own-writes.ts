import type { Client, StatementResult, Write } from '@rockpool/client';

/** The writes of this tab that have settled. */
interface OwnWrites {
  readonly settledCount: number;
  /** Those that may have changed rows. */
  readonly changedCount: number;
}

const key = Symbol('own writes');

type Counted = Partial<Record<typeof key, () => OwnWrites>>;

/**
 * Counts the writes of this tab to a budget from now on, because the changelog does not tell them from those of other
 * tabs. It replaces the methods of the client itself, which the inspector knows by identity. Returns the client.
 */
export function countWrites<C extends Client>(client: C): C {
  let settledCount = 0;
  let changedCount = 0;
  const settle = (hasChanged: boolean): void => {
    settledCount += 1;
    if (hasChanged) changedCount += 1;
  };
  const counted = <T>(write: Write<T>, hasChanged: (result: T) => boolean): Write<T> => {
    write.then(
      (result) => settle(hasChanged(result)),
      // A write that fails may be committed.
      () => settle(true),
    );
    return write;
  };
  const { execute, batch, transaction } = client;
  const count = {
    execute: (...given: Parameters<typeof execute>) =>
      counted<StatementResult>(execute(...given), ({ changes }) => changes > 0),
    batch: (...given: Parameters<typeof batch>) =>
      counted(batch(...given), (results) => results.some(({ changes }) => changes > 0)),
    transaction: <T>(...given: Parameters<typeof transaction<T>>) => counted(transaction<T>(...given), () => true),
    [key]: () => ({ settledCount, changedCount }),
  };
  return Object.assign(client, count);
}

/**
 * Begins to count. The function that it returns returns the most transactions that this tab may have written since:
 * infinity if it wrote in a way that is not counted, such as restoring a conflict.
 */
export function mostWrittenSince(client: Client): () => number {
  const read = (client as Counted)[key];
  const before = read?.();
  return () => {
    const now = read?.();
    if (before === undefined || now === undefined || now.settledCount === before.settledCount)
      return Number.POSITIVE_INFINITY;
    return now.changedCount - before.changedCount;
  };
}
