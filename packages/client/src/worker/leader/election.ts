/** The part of `navigator.locks` that is used. */
export interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    callback: (lock: unknown) => Promise<void> | void,
  ): Promise<unknown>;
}

/**
 * The holder of one Web Lock leads. The lock's queue is the succession: when the leader releases it or its worker ends,
 * the browser grants it to the next tab. The lock is held while the tab leads, which also keeps browsers from freezing
 * the page. It is never stolen, because a worker that is merely slow would continue to write.
 */
export interface Election {
  /** Becomes leader if there is none. */
  tryNow(): Promise<boolean>;
  /** Waits in the queue. Resolves to true once this tab leads, to false if it withdrew. */
  waitForTurn(): Promise<boolean>;
  /** Leaves the queue if this tab still waits; keeps an existing lead. */
  stopWaiting(): void;
  /** Gives up the lead or the place in the queue. Resolves when both are released. */
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
    if (candidacy !== null) throw new Error(`this tab is already a candidate for ${lockName}`);
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
