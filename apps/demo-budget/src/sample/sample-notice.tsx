import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { useTask } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';
import { leaveSample } from './open-sample.ts';

/** Shown on every page of the sample: a notice, and a button that closes it. */
export function SampleNotice({ budget }: { readonly budget: KnownBudget }): ReactNode {
  const client = useClient();
  const run = useTask();
  if (budget.isSample !== true) return null;
  const leave = (): void =>
    run(async () => {
      const next = await leaveSample(client, budget);
      // Reloads the page: one page, one database.
      history.replaceState(null, '', next === undefined ? location.pathname : hashOf(next));
      location.reload();
    });
  return (
    <p className="offer sample-notice">
      <span>This is a sample budget. Leaving deletes it from this device; the server keeps its copy.</span>
      <button type="button" onClick={leave}>
        Leave the sample
      </button>
    </p>
  );
}
