/**
 * Whose turn it is at the leader's one connection that writes. What is done in one call runs at once; a transaction of
 * several calls holds the turn, and everything that comes meanwhile waits for its end, in the order of coming.
 */
export class WriterQueue {
  private readonly waiting: (() => void)[] = [];
  private held = false;
  private isCatchingUp = false;

  get isHeld(): boolean {
    return this.held;
  }

  /** Runs it now, or when its turn comes. It must not throw. */
  take(job: () => void): void {
    if (this.held || this.isCatchingUp) this.waiting.push(job);
    else job();
  }

  /**
   * When its turn comes, `begin` runs, and nobody else until it calls `release`. Returns what gives up a turn that has
   * not come.
   */
  hold(begin: (release: () => void) => void): () => void {
    let isWanted = true;
    this.take(() => {
      if (!isWanted) return;
      this.held = true;
      begin(() => this.release());
    });
    return () => {
      isWanted = false;
    };
  }

  private release(): void {
    this.held = false;
    if (this.isCatchingUp) return;
    this.isCatchingUp = true;
    for (let next = this.waiting.shift(); next !== undefined; next = this.held ? undefined : this.waiting.shift())
      next();
    this.isCatchingUp = false;
  }
}
