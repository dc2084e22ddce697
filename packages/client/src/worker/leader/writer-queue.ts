/**
 * The queue for the leader's only writing connection. A single call runs at once; an interactive transaction holds the
 * queue, and everything that arrives meanwhile waits for its end, in order.
 */
export class WriterQueue {
  private readonly waiting: (() => void)[] = [];
  private held = false;
  private isCatchingUp = false;

  get isHeld(): boolean {
    return this.held;
  }

  /** Runs the job now, or after the jobs before it. The job must not throw. */
  take(job: () => void): void {
    if (this.held || this.isCatchingUp) this.waiting.push(job);
    else job();
  }

  /**
   * Runs `begin` after the jobs before it, and nothing else until `begin` calls `release`. Returns a function that
   * cancels a job that has not begun.
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
