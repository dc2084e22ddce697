import type { StatementResult, Write } from '../client.ts';

/** What a write through Drizzle resolves with. */
export interface WriteResult extends StatementResult {
  /**
   * As beside the client's own writes: resolves when the server has the write for good, rejects with the reason where
   * it is rejected. See `Write`. Absent within a transaction: what is sent is the transaction, whose promise has it.
   *
   * ```ts
   * const { synced } = await db.insert(todo).values({ id, title }); // safe on this device
   * await synced; // safe on the server
   * ```
   */
  readonly synced?: Promise<void>;
}

/** Drizzle's types give a result to every builder, but no promise of our own: so `synced` is on the result too. */
export function withSynced(write: Promise<StatementResult>): Promise<WriteResult> {
  if (!isWrite(write)) return write.then(toResult);
  // Nobody is asked about the write before somebody looks, so neither is enumerable.
  const get = (): Promise<void> => write.synced;
  return Object.defineProperty(
    write.then((result) => Object.defineProperty(toResult(result), 'synced', { get })),
    'synced',
    { get },
  );
}

/** A write that could not be made: both promises reject. */
export function rejectedWrite<T>(reason: unknown): Write<T> {
  const rejected = Promise.reject<T>(reason);
  return Object.defineProperty(rejected, 'synced', { get: () => rejected.then(() => undefined) }) as Write<T>;
}

function toResult({ changes }: StatementResult): StatementResult {
  return { changes, rows: [] };
}

function isWrite(promise: Promise<StatementResult>): promise is Write<StatementResult> {
  return 'synced' in promise;
}
