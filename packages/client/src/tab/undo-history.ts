import { RockpoolError } from '@rockpool/shared';
import { isUnflushed } from '../unflushed.ts';

/** More than anybody goes back through; the changelog keeps no more of them for ever either. */
const MOST_STEPS = 1_000;

export interface UndoHistoryOptions {
  /** Takes a transaction back by a new one, which has an id of its own. */
  readonly undo: (requestId: string, newRequestId: string) => Promise<unknown>;
  readonly newId: () => string;
}

/**
 * The transactions of this tab, by the ids of their requests, and which of them were taken back. One step at a time.
 */
export class UndoHistory {
  private readonly options: UndoHistoryOptions;
  private readonly done: string[] = [];
  private readonly undone: string[] = [];
  private steps: Promise<unknown> = Promise.resolve();

  constructor(options: UndoHistoryOptions) {
    this.options = options;
  }

  /**
   * Passes a write on, and remembers it when it is committed. What was taken back before can then not be done again.
   */
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

  /** False where there is nothing to take back. */
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
        // It changed nothing that is synced: for the user it was no step.
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
