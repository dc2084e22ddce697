import { toRockpoolError } from '@rockpool/shared';
import { isUnflushed, mayBeCommitted } from './synced-writes.ts';

/** More steps than a user undoes. Steps also end when the changelog no longer keeps their transactions. */
const MOST_STEPS = 1_000;

export interface UndoHistoryOptions {
  /** Undoes a transaction by a new one, which has its own id. */
  readonly undo: (requestId: string, newRequestId: string) => Promise<unknown>;
  readonly newId: () => string;
}

interface Step {
  readonly requestId: string;
  /** The id of an undo of this transaction whose outcome is unknown. */
  newId?: string;
}

/** The transactions of this tab that were done and undone, by request id. Runs one step at a time. */
export class UndoHistory {
  // The constructor sets this field; a declaration adds nothing to the page's code.
  declare private readonly options: UndoHistoryOptions;
  private readonly done: Step[] = [];
  private readonly undone: Step[] = [];
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
    this.done.push({ requestId });
    if (this.done.length > MOST_STEPS) this.done.shift();
    this.undone.length = 0;
  }

  private step(from: Step[], to: Step[]): Promise<boolean> {
    const step = this.steps.then(() => this.takeBackLast(from, to));
    this.steps = step.catch(() => undefined);
    return step;
  }

  private async takeBackLast(from: Step[], to: Step[]): Promise<boolean> {
    for (let step = from.at(-1); step !== undefined; step = from.at(-1)) {
      const isRepeated = step.newId !== undefined;
      const newRequestId = (step.newId ??= this.options.newId());
      const error = await this.options.undo(step.requestId, newRequestId).then(() => null, toRockpoolError);
      // Any other reason is temporary, so the step is kept for another attempt. An undo that may be committed keeps its
      // id: it must not run twice. Any other gets a new id, because a leader repeats its refusal of a request.
      if (error !== null && error.recovery !== 'ask-user') {
        if (!mayBeCommitted(error, isRepeated)) delete step.newId;
        throw error;
      }
      // A write in the meantime may have added a step, or cleared the redo steps.
      from.splice(from.indexOf(step), 1);
      // The transaction changed no synced row, so it is not a step for the user.
      if (error?.fields['problem'] === 'nothing') continue;
      if (error === null || isUnflushed(error)) to.push({ requestId: newRequestId });
      if (error !== null) throw error;
      return true;
    }
    return false;
  }
}
