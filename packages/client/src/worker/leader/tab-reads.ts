import type { RockpoolError } from '@rockpool/shared';
import type { Reads } from '../../rpc/reads.ts';
import { callReads, forwardedReads } from './forwarded-reads.ts';
import { ReadInterrupted } from './opened-database.ts';

/** A tab's reads across role changes: a read waits while there is no source, and is repeated if it was interrupted. */
export interface TabReads extends Reads {
  /** Resolves when there is a source to read from; rejects if there will be none. */
  whenReadable(): Promise<Reads>;
  readFrom(reads: Reads): void;
  /** Makes reads wait for the next `readFrom`. */
  pause(): void;
  /** Fails all waiting and future reads with this error. */
  fail(error: RockpoolError): void;
}

export function createTabReads(): TabReads {
  let source = pendingSource();
  let isPaused = true;
  let hasFailed = false;

  function pause(): void {
    if (hasFailed || isPaused) return;
    isPaused = true;
    source = pendingSource();
  }

  return {
    ...forwardedReads(async (call) => {
      for (;;) {
        try {
          return await callReads(await source.promise, call);
        } catch (thrown) {
          if (!(thrown instanceof ReadInterrupted)) throw thrown;
        }
      }
    }),
    whenReadable: () => source.promise,
    readFrom(reads) {
      if (hasFailed) return;
      if (!isPaused) source = pendingSource();
      isPaused = false;
      source.resolve(reads);
    },
    pause,
    fail(error) {
      pause();
      hasFailed = true;
      source.reject(error);
    },
  };
}

function pendingSource(): PromiseWithResolvers<Reads> {
  const pending = Promise.withResolvers<Reads>();
  pending.promise.catch(() => undefined); // Prevents an unhandled rejection if no read is waiting.
  return pending;
}
