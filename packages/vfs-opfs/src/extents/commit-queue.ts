import type { StorageError } from '../storage-error.ts';

interface Waiter {
  readonly commit: number;
  resolve(): void;
  reject(error: StorageError): void;
}

/**
 * SQLite's commits on their way to a medium that takes them asynchronously. At most one batch is under way; commits
 * that come meanwhile go together with the next. So batches take effect in order, none ever builds on one that failed,
 * and a burst of small commits writes each extent once.
 */
export class CommitQueue {
  readonly #send: () => Promise<void>;
  readonly #onFailure: (error: unknown) => Promise<StorageError>;
  #waiters: Waiter[] = [];
  #lastCommit = 0;
  #durableCommit = 0;
  #isSending = false;
  #unreportedFailure: StorageError | undefined;
  /** When the oldest commit that has not taken effect was made, in milliseconds since 1970. */
  pendingSinceMs: number | undefined;

  /**
   * `send` writes everything committed since it was called last. `onFailure` brings the pages back to what took effect,
   * and resolves with the error for those who wait; from its call until then no commit can be made.
   */
  constructor(send: () => Promise<void>, onFailure: (error: unknown) => Promise<StorageError>) {
    this.#send = send;
    this.#onFailure = onFailure;
  }

  /** A commit was made. */
  add(): void {
    this.#lastCommit += 1;
    this.pendingSinceMs ??= Date.now();
    if (!this.#isSending) void this.#run();
  }

  /**
   * Resolves when all commits so far took effect; rejects when one did not. A failure that nobody waited for is told to
   * the next who asks.
   */
  committed(): Promise<void> {
    const unreportedFailure = this.#unreportedFailure;
    this.#unreportedFailure = undefined;
    if (unreportedFailure !== undefined) return Promise.reject(unreportedFailure);
    if (this.#durableCommit === this.#lastCommit) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ commit: this.#lastCommit, resolve, reject }));
  }

  async #run(): Promise<void> {
    this.#isSending = true;
    while (this.#durableCommit < this.#lastCommit) {
      const upTo = this.#lastCommit;
      const startedMs = Date.now();
      try {
        await this.#send();
        this.#durableCommit = upTo;
        this.pendingSinceMs = upTo === this.#lastCommit ? undefined : startedMs;
        this.#resolveUpTo(upTo);
      } catch (cause) {
        await this.#fail(cause);
      }
    }
    this.#isSending = false;
  }

  async #fail(cause: unknown): Promise<void> {
    const recovering = this.#onFailure(cause);
    // Commits that came while the batch was under way were made on top of it.
    const undone = this.#lastCommit;
    const error = await recovering;
    this.#durableCommit = undone;
    this.pendingSinceMs = undone === this.#lastCommit ? undefined : Date.now();
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.commit > undone);
    if (waiters.length === this.#waiters.length) this.#unreportedFailure = error;
    for (const waiter of waiters) if (waiter.commit <= undone) waiter.reject(error);
  }

  #resolveUpTo(commit: number): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.commit > commit);
    for (const waiter of waiters) if (waiter.commit <= commit) waiter.resolve();
  }
}
