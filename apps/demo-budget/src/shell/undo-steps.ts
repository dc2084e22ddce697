import type { Client } from '@rockpool/client';

/** The undo of an action that was several transactions. */
export interface TakeBack {
  /**
   * True from the start of the undo, unless it fails. The step then stays: the transactions of the action and of its
   * undo are the next steps of `client.undo`, which cannot skip them and would bring the action back.
   */
  readonly isTakenBack: boolean;
  readonly takeBack: () => void;
}

/** `undo` receives a function that repeats it, and resolves to false if it failed. */
export function takeBackStep(undo: (again: () => void) => Promise<boolean>): TakeBack {
  const step = { isTakenBack: false, takeBack: (): void => void attempt() };
  const attempt = async (): Promise<void> => {
    step.isTakenBack = true;
    step.isTakenBack = await undo(step.takeBack);
  };
  return step;
}

/** Null for a transaction that `client.undo` undoes. */
export type UndoStep = TakeBack | null;

// A what-if is a client of its own.
const stepsByClient = new WeakMap<Client, UndoStep[]>();

/**
 * The actions of this tab that are not undone yet, newest last. An undo removes the last one, except a `TakeBack`, and
 * a redo adds one.
 */
export function undoStepsOf(client: Client): UndoStep[] {
  const steps = stepsByClient.get(client) ?? [];
  stepsByClient.set(client, steps);
  return steps;
}
