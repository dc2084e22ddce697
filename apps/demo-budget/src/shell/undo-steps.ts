import { RockpoolError, type Client } from '@rockpool/client';

/** An action that was several transactions, which are undone and redone together. */
export interface UndoGroup {
  /** True from the start of the undo, unless it fails. See `undoGroup` for when the group stays a step. */
  readonly isTakenBack: boolean;
  readonly takeBack: () => void;
  /** Redoes the action after `takeBack`. Resolves to how much of it could be redone. */
  readonly redo: () => Promise<'all' | 'part' | 'nothing'>;
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
  /** How many actions have begun, without undo and redo. */
  begunCount: number;
  /** How many of them have not ended. */
  runningCount: number;
  /** How many undos, redos and actions that become a group are running. Another undo would revert part of them. */
  busyCount: number;
  /** How many actions have several steps. Some may be transactions of other tabs, which `client.undo` does not undo. */
  unsureCount: number;
}

// A what-if is a client of its own.
const histories = new WeakMap<Client, UndoHistory>();

export function undoHistoryOf(client: Client): UndoHistory {
  const history = histories.get(client) ?? {
    done: [],
    undone: [],
    counted: Promise.resolve(),
    begunCount: 0,
    runningCount: 0,
    busyCount: 0,
    unsureCount: 0,
  };
  histories.set(client, history);
  return history;
}

/** Adds steps that were just done. As in the client, nothing can be redone after them. */
export function addSteps(history: UndoHistory, ...steps: readonly UndoStep[]): void {
  if (steps.length === 0) return;
  if (steps.length > 1) history.unsureCount += 1;
  history.done.push(...steps);
  history.undone.length = 0;
}

/** Makes an undo or redo wait for `count`, which counts the steps of an action that has ended. Returns `count`. */
export function counting<T>(history: UndoHistory, count: Promise<T>): Promise<T> {
  history.counted = Promise.all([history.counted, count]);
  return count;
}

export interface BegunAction {
  /** Returns whether no other action, undo or redo ran since this action began. Repeated calls have no effect. */
  readonly end: () => boolean;
}

/** No undo or redo begins before the end of an action that becomes a group. */
export function beginAction(history: UndoHistory, isGroup: boolean): BegunAction {
  const wasQuiet = history.runningCount === 0 && history.busyCount === 0;
  let running = 1;
  let busy = isGroup ? 1 : 0;
  history.runningCount += running;
  history.busyCount += busy;
  history.begunCount += 1;
  const begun = history.begunCount;
  const end = (): boolean => {
    history.runningCount -= running;
    history.busyCount -= busy;
    running = 0;
    busy = 0;
    return wasQuiet && history.begunCount === begun;
  };
  return { end };
}

export interface UndoGroupOptions {
  readonly client: Pick<Client, 'undo' | 'redo'>;
  readonly history: UndoHistory;
  /** The number of transactions. */
  readonly count: number;
  /** Whether no other action wrote between the transactions. */
  readonly isAlone: boolean;
  /** Reverts what is left of the action in another way. Resolves to the number of rows that it changed. */
  readonly revert: () => Promise<number>;
  /** Undoes the group with `undoAll`. Receives a function that repeats it, and resolves to false if it failed. */
  readonly undo: (undoAll: () => Promise<void>, again: () => void) => Promise<boolean>;
}

/** Each `client.undo` checks all foreign keys of the budget: for larger groups, `revert` takes far less time. */
const maxUndoneTransactions = 20;

/**
 * A step for an action of several transactions. `client.undo` undoes the last transaction, whatever it is, so it is
 * called only while no other action has begun. If some transactions cannot be undone in this way, `revert` undoes them.
 * The step then stays, because the transactions of that are the next steps of `client.undo`, which would bring the
 * action back.
 */
export function undoGroup({ client, history, count, isAlone, revert, undo }: UndoGroupOptions): UndoGroup {
  // The transactions that are done. They are counted one by one, so that an attempt after a failure continues.
  let doneCount = count;
  let allCount = count;
  let isWhole = isAlone && count <= maxUndoneTransactions;
  const { unsureCount } = history;
  /** `begunCount` at the start of the first attempt. */
  let begun: number | null = null;
  const undoAll = async (): Promise<void> => {
    begun ??= history.begunCount;
    if (history.runningCount > 0 || history.unsureCount > unsureCount) isWhole = false;
    while (isWhole && doneCount > 0)
      if (history.begunCount === begun && (await went(() => client.undo()))) doneCount -= 1;
      else isWhole = false;
    if ((await revert()) > 0) isWhole = false;
  };
  const attempt = async (): Promise<void> => {
    if (history.busyCount > 0) return;
    history.busyCount += 1;
    group.isTakenBack = true;
    try {
      group.isTakenBack = await undo(undoAll, group.takeBack);
    } finally {
      history.busyCount -= 1;
    }
    if (!group.isTakenBack) return;
    history.done.splice(history.done.indexOf(group), 1);
    // The transactions of `revert` are newer than those of actions since.
    (isWhole ? history.undone : history.done).push(group);
  };
  const redo = async (): Promise<'all' | 'part' | 'nothing'> => {
    const before = history.begunCount;
    try {
      while (doneCount < allCount)
        if (history.begunCount === before && (await went(() => client.redo()))) doneCount += 1;
        else allCount -= 1;
      return doneCount === 0 ? 'nothing' : doneCount < count ? 'part' : 'all';
    } catch (error) {
      if (doneCount > 0) isWhole = false;
      else if (history.begunCount === before) history.undone.push(group);
      throw error;
    } finally {
      if (history.begunCount > before) isWhole = false;
      begun = null;
      group.isTakenBack = false;
      if (doneCount > 0) history.done.push(group);
    }
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
