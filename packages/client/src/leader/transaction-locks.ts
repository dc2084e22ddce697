import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Locks } from './election.ts';

/**
 * A tab holds a Web Lock for each transaction that it runs, and the leader asks for the same lock: the browser grants it as soon as that tab has
 * gone, whatever the reason, and the leader need not wait for the time limit while all others wait.
 */
export interface TransactionLocks {
  /** Resolves when this tab holds the lock. */
  hold(transactionId: string): Promise<void>;
  release(transactionId: string): void;
  releaseAll(): void;
  /** Calls once when no tab holds the lock, unless the returned function is called before. */
  watch(transactionId: string, onGone: () => void): () => void;
}

export function createTransactionLocks(locks: Locks, scope: string, onProblem: (error: RockpoolError) => void): TransactionLocks {
  const releaseById = new Map<string, () => void>();
  const lockName = (transactionId: string): string => `rockpool:${scope}:transaction:${transactionId}`;

  function release(transactionId: string): void {
    releaseById.get(transactionId)?.();
    releaseById.delete(transactionId);
  }

  return {
    hold(transactionId) {
      const held = Promise.withResolvers<void>();
      const leaving = Promise.withResolvers<void>();
      releaseById.set(transactionId, leaving.resolve);
      locks
        .request(lockName(transactionId), {}, () => {
          held.resolve();
          return leaving.promise;
        })
        .catch(held.reject);
      return held.promise;
    },
    release,
    releaseAll() {
      for (const transactionId of [...releaseById.keys()]) release(transactionId);
    },
    watch(transactionId, onGone) {
      const aborter = new AbortController();
      locks
        .request(lockName(transactionId), { signal: aborter.signal }, () => (aborter.signal.aborted ? undefined : onGone()))
        .catch((thrown: unknown) => {
          if (!aborter.signal.aborted) onProblem(toRockpoolError(thrown));
        });
      return () => aborter.abort();
    },
  };
}
