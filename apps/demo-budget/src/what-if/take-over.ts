import { addSteps, undoHistoryOf } from '../shell/undo-steps.ts';
import { conflictId } from './conflict-choice.ts';
import type { WhatIf } from './what-if.ts';

export type Choice = 'branch' | 'origin';

/** A conflict came up that the user has not seen. Nothing was written. */
export class UnseenConflict extends Error {}

/**
 * Writes the what-if to the budget, with the user's choices by `conflictId`. Rejects with `UnseenConflict`, and like
 * `Branch.merge`; the what-if then stays as it is.
 */
export async function takeOver(
  { branch, today }: Pick<WhatIf, 'branch' | 'today'>,
  choices: ReadonlyMap<string, Choice>,
): Promise<void> {
  await branch.merge({
    conflicts: (conflict) => {
      const choice = choices.get(conflictId(conflict));
      if (choice === undefined) throw new UnseenConflict('Not every conflict is decided');
      return choice;
    },
  });
  // It is a transaction of this tab, as the actions of the pages are.
  addSteps(undoHistoryOf(today), null);
}
