import { RockpoolError } from '@rockpool/shared';

/**
 * How long a transaction may stay idle while a write that its body issued outside `tx` waits for the end of the
 * transaction. A body that does not await that write continues after one message to the worker and back, which takes a
 * fraction of this time.
 */
export const OWN_WRITE_DEADLINE_MS = 250;

interface HeldWrite {
  /** The transaction whose body issued the write; null for a write that only keeps its place in the order. */
  readonly issuer: OwnTransaction | null;
  start(): void;
  refuse(error: RockpoolError): void;
}

/**
 * Orders the transactions of this tab and its writes outside of them.
 *
 * A write waits until the open transaction ends. If the body of that transaction awaits the write (for example, uses
 * `db` instead of `tx`), the two wait for each other until the transaction times out. Browsers cannot tell which
 * asynchronous call belongs to which, so a write is refused only if three conditions hold: it was issued in a turn in
 * which the body continued, the body has not settled, and the body has sent no step for a while. Writes from anywhere
 * else, such as an event handler, are never refused.
 *
 * A write that may be refused is held back here and not at the leader, where it could not be withdrawn. Later writes
 * wait behind it, in order.
 */
export class OwnTransactions implements Hooks {
  private held: HeldWrite[] = [];
  private readonly open = new Set<OwnTransaction>();
  private issuer: OwnTransaction | null = null;
  private cancelTurn: ReturnType<typeof setTimeout> | undefined;
  private writesUnderWay = 0;

  begin(): OwnTransaction {
    const transaction = new OwnTransaction(this);
    this.open.add(transaction);
    return transaction;
  }

  /**
   * Runs a write or a whole transaction when the transactions before it have ended. Rejects with `write-in-transaction`
   * if it would wait forever.
   */
  write<T>(run: () => Promise<T>): Promise<T> {
    const { issuer } = this;
    if (issuer === null && this.held.length === 0) return this.count(run());
    return new Promise<T>((resolve, reject) => {
      this.held.push({ issuer, start: () => void this.count(run()).then(resolve, reject), refuse: reject });
      issuer?.look();
    });
  }

  /**
   * The number of unfinished writes of this tab besides the current transaction. If the transaction times out, it may
   * have waited for one of them.
   */
  get othersCount(): number {
    return this.writesUnderWay + this.held.length - 1;
  }

  private count<T>(write: Promise<T>): Promise<T> {
    this.writesUnderWay++;
    return write.finally(() => this.writesUnderWay--);
  }

  /** Treats every write until the next task as issued by the body of this transaction. */
  enter(transaction: OwnTransaction): void {
    this.issuer = transaction;
    clearTimeout(this.cancelTurn);
    this.cancelTurn = setTimeout(() => (this.issuer = null), 0);
  }

  end(transaction: OwnTransaction): void {
    this.open.delete(transaction);
    if (this.issuer === transaction) this.issuer = null;
    this.startNext();
  }

  isAwaited(transaction: OwnTransaction): boolean {
    return this.held.some(({ issuer }) => issuer === transaction);
  }

  refuse(transaction: OwnTransaction): void {
    const refused = this.held.filter(({ issuer }) => issuer === transaction);
    this.held = this.held.filter(({ issuer }) => issuer !== transaction);
    for (const write of refused)
      write.refuse(new RockpoolError('write-in-transaction', { waitedMs: OWN_WRITE_DEADLINE_MS }));
    this.startNext();
  }

  private startNext(): void {
    for (;;) {
      const [next] = this.held;
      if (next === undefined || (next.issuer !== null && this.open.has(next.issuer))) return;
      this.held.shift();
      next.start();
    }
  }
}

/** What a transaction calls. */
interface Hooks {
  enter(transaction: OwnTransaction): void;
  end(transaction: OwnTransaction): void;
  isAwaited(transaction: OwnTransaction): boolean;
  refuse(transaction: OwnTransaction): void;
}

/** One transaction, from its start until its body settles. */
export class OwnTransaction {
  private readonly hooks: Hooks;
  private stepsUnderWay = 0;
  private hasEnded = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(hooks: Hooks) {
    this.hooks = hooks;
  }

  /** Runs the start of the transaction, or a step that its body requested. The body continues afterwards. */
  async during<T>(step: Promise<T>): Promise<T> {
    this.stepsUnderWay++;
    clearTimeout(this.timer);
    try {
      return await step;
    } finally {
      this.stepsUnderWay--;
      if (!this.hasEnded) this.hooks.enter(this);
      this.look();
    }
  }

  /** Starts the idle timer if a write waits for this transaction. */
  look(): void {
    clearTimeout(this.timer);
    if (this.hasEnded || this.stepsUnderWay > 0 || !this.hooks.isAwaited(this)) return;
    this.timer = setTimeout(() => this.hooks.refuse(this), OWN_WRITE_DEADLINE_MS);
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearTimeout(this.timer);
    this.hooks.end(this);
  }
}
