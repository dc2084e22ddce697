import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { useTask } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';
import { leaveSample } from './open-sample.ts';

/** On every page of the sample: that it is one, and the way out. */
export function SampleNotice({ budget }: { readonly budget: KnownBudget }): ReactNode {
  const client = useClient();
  const run = useTask();
  if (budget.isSample !== true) return null;
  const leave = (): void =>
    run(async () => {
      const next = await leaveSample(client, budget);
      // A whole new start: one page, one database.
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
