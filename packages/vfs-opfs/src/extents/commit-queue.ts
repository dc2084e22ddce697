import type { StorageError } from '../storage-error.ts';

interface Waiter {
  readonly commit: number;
  resolve(): void;
  reject(error: StorageError): void;
}

/**
 * Sends SQLite's commits to a medium that stores them asynchronously. At most one batch is pending; commits that arrive
 * meanwhile form the next batch. Batches therefore take effect in order, no batch builds on one that failed, and a
 * burst of small commits writes each extent only once.
 */
export class CommitQueue {
  readonly #send: () => Promise<void>;
  readonly #onFailure: (error: unknown) => Promise<StorageError>;
  #waiters: Waiter[] = [];
  #lastCommit = 0;
  #durableCommit = 0;
  #isSending = false;
  #unreportedFailure: StorageError | undefined;
  /** Time of the oldest commit that has not taken effect, in milliseconds since 1970. */
  pendingSinceMs: number | undefined;

  /**
   * `send` writes everything committed since its last call. `onFailure` reloads the pages as of the last batch that
   * took effect, and resolves with the error for the waiting callers; from its call until then no commit can be made.
   */
  constructor(send: () => Promise<void>, onFailure: (error: unknown) => Promise<StorageError>) {
    this.#send = send;
    this.#onFailure = onFailure;
  }

  /** Queues a commit that was just made. */
  add(): void {
    this.#lastCommit += 1;
    this.pendingSinceMs ??= Date.now();
    if (!this.#isSending) void this.#run();
  }

  /**
   * Resolves when all commits so far have taken effect; rejects if one of them is undone. A commit that was undone
   * before the call does not count, because the caller's commit came after it and may take effect.
   */
  committed(): Promise<void> {
    if (this.#durableCommit === this.#lastCommit) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ commit: this.#lastCommit, resolve, reject }));
  }

  /** Like `committed`; rejects also if the newest commit was undone and no caller waited for it. */
  async ended(): Promise<void> {
    await this.committed();
    if (this.#unreportedFailure !== undefined) throw this.#unreportedFailure;
  }

  async #run(): Promise<void> {
    this.#isSending = true;
    while (this.#durableCommit < this.#lastCommit) {
      const upTo = this.#lastCommit;
      const startedMs = Date.now();
      try {
        await this.#send();
        this.#durableCommit = upTo;
        this.#unreportedFailure = undefined;
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
    // Commits made while the batch was pending built on it, so they are undone too.
    const undone = this.#lastCommit;
    const error = await recovering;
    this.#durableCommit = undone;
    this.pendingSinceMs = undone === this.#lastCommit ? undefined : Date.now();
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.commit > undone);
    this.#unreportedFailure = waiters.length === this.#waiters.length ? error : undefined;
    for (const waiter of waiters) if (waiter.commit <= undone) waiter.reject(error);
  }

  #resolveUpTo(commit: number): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.commit > commit);
    for (const waiter of waiters) if (waiter.commit <= commit) waiter.resolve();
  }
}
