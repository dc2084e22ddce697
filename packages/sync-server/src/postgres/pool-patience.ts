/** One turn of the timer. */
const TURN_MS = 1_000;

/**
 * A caller fails when PostgreSQL has not responded to any caller for this many turns of the timer. A slow machine opens
 * a connection within a third of that time.
 */
const MAX_STILL_TURNS = 30;

interface Waiter {
  readonly arrivedAtTurn: number;
  readonly fail: (error: Error) => void;
}

/**
 * Decides when a caller has waited too long for a connection of a pool: when the pool makes no progress, not after a
 * fixed time. While the pool makes progress, no caller fails, however long the queue is. Counts turns of a timer,
 * because a process that did not run for a while has not read the responses that have arrived meanwhile.
 */
export class PoolPatience {
  private readonly waiters = new Set<Waiter>();
  private timer: NodeJS.Timeout | null = null;
  private turns = 0;
  private movedAtTurn = 0;

  /** Call it when PostgreSQL has responded: it opened a connection, or a statement has ended. */
  moved(): void {
    this.movedAtTurn = this.turns;
  }

  /**
   * Resolves like `pending`. Throws an error with the code ETIMEDOUT once the pool has made no progress for too long.
   */
  async wait<Result>(pending: Promise<Result>): Promise<Result> {
    const { promise, reject } = Promise.withResolvers<never>();
    const waiter: Waiter = { arrivedAtTurn: this.turns, fail: reject };
    this.waiters.add(waiter);
    this.timer ??= setInterval(() => setImmediate(() => this.turn()), TURN_MS).unref();
    try {
      return await Promise.race([pending, promise]);
    } finally {
      this.waiters.delete(waiter);
      if (this.waiters.size === 0) this.rest();
    }
  }

  /** The timer calls this after the sockets have been read. */
  turn(): void {
    this.turns++;
    for (const { arrivedAtTurn, fail } of this.waiters) {
      if (this.turns - Math.max(arrivedAtTurn, this.movedAtTurn) < MAX_STILL_TURNS) continue;
      fail(Object.assign(new Error('PostgreSQL has not responded to any caller for too long'), { code: 'ETIMEDOUT' }));
    }
  }

  private rest(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }
}
