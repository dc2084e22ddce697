/** Callers that wait for the next commit of one database: change feeds of the server's own program. */
export class CommitWaiters {
  private readonly waiting = new Set<(continues: boolean) => void>();

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  /** Resolves with the `continues` of the next `wake`, or with false when the signal aborts. */
  next(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const done = (continues: boolean): void => {
        this.waiting.delete(done);
        signal.removeEventListener('abort', stop);
        resolve(continues);
      };
      const stop = (): void => done(false);
      this.waiting.add(done);
      signal.addEventListener('abort', stop);
    });
  }

  wake(continues: boolean): void {
    for (const done of [...this.waiting]) done(continues);
  }
}
