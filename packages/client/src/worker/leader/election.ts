/** What this needs of `navigator.locks`. */
export interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    callback: (lock: unknown) => Promise<void> | void,
  ): Promise<unknown>;
}

/**
 * Who leads is who holds one Web Lock. Its queue is the succession: when the leader lets go, or its worker ends in
 * whatever way, the browser gives the lock to the next. The lock is held while the tab leads, which also keeps browsers
 * from freezing the page; it is never stolen, because a worker that is merely slow would go on writing.
 */
export interface Election {
  /** Takes the lead if nobody has it. */
  tryNow(): Promise<boolean>;
  /** Waits in the queue. True: this tab leads now. False: it has withdrawn. */
  waitForTurn(): Promise<boolean>;
  /** Leaves the queue, where this tab still waits; a lead stays. */
  stopWaiting(): void;
  /** Gives up the lead or the place in the queue; resolves when both are gone. */
  withdraw(): Promise<void>;
}

interface Candidacy {
  readonly leads: boolean;
  readonly letGo: () => void;
  /** Settles when the lock is free of this tab. */
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
