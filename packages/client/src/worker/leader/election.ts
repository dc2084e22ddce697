/** The part of `navigator.locks` that is used. */
export interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    callback: (lock: unknown) => Promise<void> | void,
  ): Promise<unknown>;
}

/**
 * The tab that holds one Web Lock leads. The lock's queue is the order of succession: when the leader releases the lock
 * or its worker ends, the browser grants it to the next tab. The leader holds the lock for as long as it leads, which
 * also keeps browsers from freezing the page. The lock is never stolen, because a worker that is merely slow would
 * continue to write.
 */
export interface Election {
  /** Becomes leader if no tab leads. */
  tryNow(): Promise<boolean>;
  /** Waits in the queue. Resolves with true once this tab leads, and with false if it withdrew. */
  waitForTurn(): Promise<boolean>;
  /** Leaves the queue if this tab still waits. A tab that leads continues to lead. */
  stopWaiting(): void;
  /** Gives up the leadership or the place in the queue. Resolves when the lock is released. */
  withdraw(): Promise<void>;
}

interface Candidacy {
  readonly leads: boolean;
  readonly letGo: () => void;
  /** Settles when this tab no longer holds the lock. */
  readonly gone: Promise<void>;
}

export function createElection(locks: Locks, lockName: string): Election {
  let candidacy: Candidacy | null = null;

  function stand(options: { readonly ifAvailable: boolean }): Promise<boolean> {
    if (candidacy !== null) throw new Error('this tab is already a candidate');
    const leaving = Promise.withResolvers<void>();
    const turn = Promise.withResolvers<boolean>();
    const aborter = new AbortController();
    let leads = false;

    // The Locks API does not take `signal` together with `ifAvailable`.
    const request = locks.request(lockName, options.ifAvailable ? options : { signal: aborter.signal }, (lock) => {
      leads = lock !== null && !aborter.signal.aborted;
      turn.resolve(leads);
      return leads ? leaving.promise : undefined;
    });
    const mine: Candidacy = {
      get leads() {
        return leads;
      },
      letGo: () => {
        aborter.abort();
        leaving.resolve();
      },
      gone: request.then(
        () => undefined,
        (thrown: unknown) => {
          if (aborter.signal.aborted) turn.resolve(false);
          else turn.reject(thrown);
        },
      ),
    };
    candidacy = mine;
    void mine.gone.then(() => {
      if (candidacy === mine) candidacy = null;
    });
    return turn.promise;
  }

  return {
    tryNow: async () => {
      const leads = await stand({ ifAvailable: true });
      if (!leads) await candidacy?.gone;
      return leads;
    },
    waitForTurn: () => stand({ ifAvailable: false }),
    stopWaiting: () => {
      if (candidacy?.leads === false) candidacy.letGo();
    },
    withdraw: async () => {
      const mine = candidacy;
      mine?.letGo();
      await mine?.gone;
    },
  };
}
