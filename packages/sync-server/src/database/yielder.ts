/**
 * Work that holds the one thread for some milliseconds, such as opening a file: done piece by piece in order of asking,
 * and between two pieces the event loop serves everybody else.
 */
export class Yielder {
  private last: Promise<void> = Promise.resolve();

  /** Resolves in a turn of the event loop in which no other piece is done. */
  next(): Promise<void> {
    this.last = this.last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.last;
  }
}
