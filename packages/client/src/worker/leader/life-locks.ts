import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Locks } from './election.ts';

/**
 * A tab holds a Web Lock for each thing that ends with the tab, such as a transaction that it runs, and the leader
 * requests the same lock. The browser grants the lock as soon as that tab is gone for any reason, so no time limit is
 * needed.
 */
export interface LifeLocks {
  /** Resolves when this tab holds the lock. */
  hold(id: string): Promise<void>;
  release(id: string): void;
  releaseAll(): void;
  /** Calls back once when no tab holds the lock, unless the returned function is called first. */
  watch(id: string, onGone: () => void): () => void;
}

export function createLifeLocks(locks: Locks, prefix: string, onProblem: (error: RockpoolError) => void): LifeLocks {
  const releaseById = new Map<string, () => void>();
  const lockName = (id: string): string => `${prefix}:${id}`;

  function release(id: string): void {
    releaseById.get(id)?.();
    releaseById.delete(id);
  }

  return {
    hold(id) {
      release(id); // Otherwise a second call would wait for the first one.
      const held = Promise.withResolvers<void>();
      const leaving = Promise.withResolvers<void>();
      releaseById.set(id, leaving.resolve);
      locks
        .request(lockName(id), {}, () => {
          held.resolve();
          return leaving.promise;
        })
        .catch(held.reject);
      return held.promise;
    },
    release,
    releaseAll() {
      for (const id of [...releaseById.keys()]) release(id);
    },
    watch(id, onGone) {
      const aborter = new AbortController();
      locks
        .request(lockName(id), { signal: aborter.signal }, () => (aborter.signal.aborted ? undefined : onGone()))
        .catch((thrown: unknown) => {
          if (!aborter.signal.aborted) onProblem(toRockpoolError(thrown));
        });
      return () => aborter.abort();
    },
  };
}
