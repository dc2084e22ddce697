import { RockpoolError, type Client } from '@rockpool/client';

/** An action that was several transactions, which are undone and redone together. */
export interface UndoGroup {
  /** True from the start of the undo, unless it fails. See `undoGroup` for when the group stays a step. */
  readonly isTakenBack: boolean;
  readonly takeBack: () => void;
  /** Redoes the action after `takeBack`. Resolves to false if there is nothing to redo. */
  readonly redo: () => Promise<boolean>;
}

/** Null for a transaction that `client.undo` undoes. */
export type UndoStep = UndoGroup | null;

/** The actions of this tab, as steps of `client.undo` and `client.redo`, newest last. */
export interface UndoHistory {
  readonly done: UndoStep[];
  readonly undone: UndoStep[];
  /**
   * Resolves when `done` contains the steps of all actions that have ended. The user may see the result of an action
   * before its steps are counted.
   */
  counted: Promise<unknown>;
}

// A what-if is a client of its own.
const histories = new WeakMap<Client, UndoHistory>();

export function undoHistoryOf(client: Client): UndoHistory {
  const history = histories.get(client) ?? { done: [], undone: [], counted: Promise.resolve() };
  histories.set(client, history);
  return history;
}

/** Adds steps that were just done. As in the client, nothing can be redone after them. */
export function addSteps({ done, undone }: UndoHistory, ...steps: readonly UndoStep[]): void {
  if (steps.length === 0) return;
  done.push(...steps);
  undone.length = 0;
}

/** Makes an undo or redo wait for `count`, which counts the steps of an action that has ended. Returns `count`. */
export function counting<T>(history: UndoHistory, count: Promise<T>): Promise<T> {
  history.counted = Promise.all([history.counted, count]);
  return count;
}

export interface UndoGroupOptions {
  readonly client: Pick<Client, 'undo' | 'redo'>;
  readonly history: UndoHistory;
  /** The number of transactions. */
  readonly count: number;
  /**
   * Undoes the group with `undoAll`, which resolves to whether all transactions could be undone. Receives a function
   * that repeats it, and resolves to false if it failed.
   */
  readonly undo: (undoAll: () => Promise<boolean>, again: () => void) => Promise<boolean>;
}

/**
 * A step for an action of several transactions. If some of them can no longer be undone, `undo` reverts the action in
 * another way. The step then stays, because the transactions of that are the next steps of `client.undo`, which would
 * bring the action back.
 */
export function undoGroup({ client, history, count, undo }: UndoGroupOptions): UndoGroup {
  // The transactions that are done. They are counted one by one, so that an attempt after a failure continues.
  let doneCount = count;
  let allCount = count;
  let isWhole = true;
  const undoAll = async (): Promise<boolean> => {
    for (; doneCount > 0; doneCount -= 1) isWhole = (await went(() => client.undo())) && isWhole;
    return isWhole;
  };
  const attempt = async (): Promise<void> => {
    group.isTakenBack = true;
    group.isTakenBack = await undo(undoAll, group.takeBack);
    if (!group.isTakenBack || !isWhole) return;
    history.done.splice(history.done.indexOf(group), 1);
    history.undone.push(group);
  };
  const redo = async (): Promise<boolean> => {
    while (doneCount < allCount)
      if (await went(() => client.redo())) doneCount += 1;
      else allCount -= 1;
    group.isTakenBack = false;
    if (allCount > 0) history.done.push(group);
    return allCount > 0;
  };
  const group = { isTakenBack: false, takeBack: (): void => void attempt(), redo };
  return group;
}

/** Whether an undo or redo took place. After a refusal, the next one continues with the transaction before. */
async function went(step: () => Promise<boolean>): Promise<boolean> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof RockpoolError && error.code === 'undo-refused') return false;
    throw error;
  }
}
