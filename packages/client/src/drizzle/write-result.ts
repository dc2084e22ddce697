import type { StatementResult, Write } from '@rockpool/client';

/** The result of a write through Drizzle. */
export interface WriteResult extends StatementResult {
  /**
   * Resolves when the server has admitted the write, and rejects with the reason if the write is rejected. See `Write`.
   * Absent within a transaction, whose own promise has it.
   *
   * ```ts
   * const { synced } = await db.insert(todo).values({ id, title }); // safe on this device
   * await synced; // safe on the server
   * ```
   */
  readonly synced?: Promise<void>;
}

/**
 * Drizzle's types let a builder resolve with a result but not return a second promise, so `synced` is part of the
 * result too.
 */
export function withSynced(write: Promise<StatementResult>): Promise<WriteResult> {
  if (!isWrite(write)) return write.then(toResult);
  // Makes `synced` not enumerable, so that the state of the write is requested only when the app reads it.
  const get = (): Promise<void> => write.synced;
  return Object.defineProperty(
    write.then((result) => Object.defineProperty(toResult(result), 'synced', { get })),
    'synced',
    { get },
  );
}

/** A failed write: both promises reject. */
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
