import type { Branch } from '@rockpool/client';
import { conflictId } from './conflict-choice.ts';

export type Choice = 'branch' | 'origin';

/** A conflict came up that the user has not seen. Nothing was written. */
export class UnseenConflict extends Error {}

/**
 * Writes the what-if to the budget, with the user's choices by `conflictId`. Rejects with `UnseenConflict`, and like
 * `Branch.merge`; the what-if then stays as it is.
 */
export async function takeOver(branch: Branch, choices: ReadonlyMap<string, Choice>): Promise<void> {
  await branch.merge({
    conflicts: (conflict) => {
      const choice = choices.get(conflictId(conflict));
      if (choice === undefined) throw new UnseenConflict('Not every conflict is decided');
      return choice;
    },
  });
}
