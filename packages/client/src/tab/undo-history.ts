import { RockpoolError } from '@rockpool/shared';
import { isUnflushed } from './synced-writes.ts';

/** More steps than a user undoes. Steps also end when the changelog no longer keeps their transactions. */
const MOST_STEPS = 1_000;

export interface UndoHistoryOptions {
  /** Undoes a transaction by a new one, which has its own id. */
  readonly undo: (requestId: string, newRequestId: string) => Promise<unknown>;
  readonly newId: () => string;
}

/** The transactions of this tab that were done and undone, by request id. Runs one step at a time. */
export class UndoHistory {
  private readonly options: UndoHistoryOptions;
  private readonly done: string[] = [];
  private readonly undone: string[] = [];
  private steps: Promise<unknown> = Promise.resolve();

  constructor(options: UndoHistoryOptions) {
    this.options = options;
  }

  /** Returns the write, and records it once it is committed. A new write clears the redo steps. */
  async remember<T>(requestId: string, write: Promise<T>): Promise<T> {
    try {
      const result = await write;
      this.add(requestId);
      return result;
    } catch (thrown) {
      if (isUnflushed(thrown)) this.add(requestId);
      throw thrown;
    }
  }

  /** Resolves with false if there is nothing to undo. */
  undo(): Promise<boolean> {
    return this.step(this.done, this.undone);
  }

  redo(): Promise<boolean> {
    return this.step(this.undone, this.done);
  }

  private add(requestId: string): void {
    this.done.push(requestId);
    if (this.done.length > MOST_STEPS) this.done.shift();
    this.undone.length = 0;
  }

  private step(from: string[], to: string[]): Promise<boolean> {
    const step = this.steps.then(() => this.takeBackLast(from, to));
    this.steps = step.catch(() => undefined);
    return step;
  }

  private async takeBackLast(from: string[], to: string[]): Promise<boolean> {
    for (let requestId = from.pop(); requestId !== undefined; requestId = from.pop()) {
      const newRequestId = this.options.newId();
      try {
        await this.options.undo(requestId, newRequestId);
      } catch (thrown) {
        // The transaction changed no synced row, so it is not a step for the user.
        if (thrown instanceof RockpoolError && thrown.code === 'undo-refused' && thrown.fields['problem'] === 'nothing')
          continue;
        if (isUnflushed(thrown)) to.push(newRequestId);
        throw thrown;
      }
      to.push(newRequestId);
      return true;
    }
    return false;
  }
}
