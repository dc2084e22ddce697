import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { useTask } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';
import { leaveSample } from './open-sample.ts';

/** Shown on every page of the sample: a notice, and a button that closes the sample after a confirmation. */
export function SampleNotice({ budget }: { readonly budget: KnownBudget }): ReactNode {
  const client = useClient();
  const run = useTask();
  const [asking, setAsking] = useState(false);
  if (budget.isSample !== true) return null;
  const leave = (): void =>
    run(async () => {
      const next = await leaveSample(client, budget);
      // Reloads the page: one page, one database.
      history.replaceState(null, '', next === undefined ? location.pathname : hashOf(next));
      location.reload();
    });
  return asking ? (
    <p className="offer sample-notice" role="alert">
      <span>Delete the sample and your changes to it from this device?</span>
      <button type="button" className="danger" autoFocus onClick={leave}>
        Delete the sample
      </button>
      <button type="button" className="quiet" onClick={() => setAsking(false)}>
        Keep it
      </button>
    </p>
  ) : (
    <p className="offer sample-notice">
      <span>This is a sample budget.</span>
      <button type="button" className="quiet" onClick={() => setAsking(true)}>
        Leave the sample …
      </button>
    </p>
  );
}
