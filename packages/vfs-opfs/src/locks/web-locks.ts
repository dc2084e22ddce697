import type { LockMode, StorageLocks } from './storage-locks.ts';

/** Web Locks with a release function instead of a callback. */
export const webLocks: StorageLocks = {
  request(name: string, mode: LockMode, timeoutMs: number): Promise<(() => void) | undefined> {
    return new Promise((resolve, reject) => {
      const give = (lock: Lock | null): Promise<void> | undefined => {
        clearTimeout(timer);
        if (lock === null) {
          resolve(undefined);
          return undefined;
        }
        return new Promise<void>((release) => resolve(release));
      };
      const fail = (cause: unknown): void => {
        clearTimeout(timer);
        if (cause instanceof DOMException && cause.name === 'AbortError') resolve(undefined);
        else reject(cause);
      };
      const abort = new AbortController();
      const timer = timeoutMs === 0 ? undefined : setTimeout(() => abort.abort(), timeoutMs);
      // The specification forbids combining `signal` and `ifAvailable`.
      const options: LockOptions = timeoutMs === 0 ? { mode, ifAvailable: true } : { mode, signal: abort.signal };
      navigator.locks.request(name, options, give).catch(fail);
    });
  },
};
