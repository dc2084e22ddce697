/**
 * Runs reads one after another. Calls that arrive during a read share the next one. So requests of clients without
 * rights take one connection to PostgreSQL at most, however many there are.
 */
export class SharedRead {
  private readonly read: () => Promise<void>;
  // The read that has not begun yet, and the last one that has.
  private next: Promise<void> | null = null;
  private last: Promise<void> = Promise.resolve();

  constructor(read: () => Promise<void>) {
    this.read = read;
  }

  /** Settles with a read that began after this call. */
  run(): Promise<void> {
    this.next ??= this.last.then(() => {
      this.next = null;
      return this.read();
    });
    this.last = this.next.catch(() => undefined);
    return this.next;
  }
}
