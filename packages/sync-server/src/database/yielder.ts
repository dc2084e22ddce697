/**
 * Spreads work that blocks the thread for milliseconds, such as opening files, over turns of the event loop, in order
 * of request. Sessions are served in between.
 */
export class Yielder {
  private last: Promise<void> = Promise.resolve();

  /** Resolves in a turn of the event loop that no other caller shares. */
  next(): Promise<void> {
    this.last = this.last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.last;
  }
}
