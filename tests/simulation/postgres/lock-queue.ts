export type LockKind = 'shared' | 'exclusive';

interface Waiting {
  readonly holder: object;
  readonly kind: LockKind;
  readonly grant: () => void;
}

/** A lock as in PostgreSQL: granted in the order of requests, and held until the transaction ends. */
export class LockQueue {
  private readonly holders = new Map<object, LockKind>();
  private waiting: Waiting[] = [];

  get waitingCount(): number {
    return this.waiting.length;
  }

  isHeldBy(holder: object): boolean {
    return this.holders.has(holder);
  }

  /** Calls `grant` once `holder` has the lock, at once if it is free. */
  acquire(holder: object, kind: LockKind, grant: () => void): void {
    if (this.holders.has(holder)) return grant();
    this.waiting.push({ holder, kind, grant });
    this.grantNext();
  }

  release(holder: object): void {
    this.holders.delete(holder);
    this.waiting = this.waiting.filter((one) => one.holder !== holder);
    this.grantNext();
  }

  private grantNext(): void {
    for (let [next] = this.waiting; next !== undefined && this.isFreeFor(next.kind); [next] = this.waiting) {
      this.waiting.shift();
      this.holders.set(next.holder, next.kind);
      next.grant();
    }
  }

  private isFreeFor(kind: LockKind): boolean {
    return this.holders.size === 0 || (kind === 'shared' && [...this.holders.values()].every((one) => one === kind));
  }
}
