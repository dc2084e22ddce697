import type { Client } from '@rockpool/client';

/** The undo of an action that was several transactions; null if `client.undo` undoes the action. */
export type UndoStep = (() => void) | null;

// A what-if is a client of its own.
const stepsByClient = new WeakMap<Client, UndoStep[]>();

/** The actions of this tab that are not undone yet, newest last. An undo removes the last one, and a redo adds one. */
export function undoStepsOf(client: Client): UndoStep[] {
  const steps = stepsByClient.get(client) ?? [];
  stepsByClient.set(client, steps);
  return steps;
}
