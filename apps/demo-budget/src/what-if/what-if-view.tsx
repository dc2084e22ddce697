import { useClient, useSyncStatus } from '@rockpool/client/react';
import { useEffect, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useView } from '../budget/view.ts';
import { useReport, useTask } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';
import { undoHistoryOf } from '../shell/undo-steps.ts';
import { Comparison } from './comparison.tsx';
import { takeLastEnd, whatIfName } from './what-if.ts';
import './what-if.css';

/** In a what-if, shows how it compares with today. Otherwise, offers to start one. */
export default function WhatIfView({ budget }: { readonly budget: Budget }): ReactNode {
  return useView() === 'what-if' ? <Comparison budget={budget} /> : <Start budget={budget} />;
}

function Start({ budget }: { readonly budget: Budget }): ReactNode {
  const client = useClient();
  const run = useTask();
  const report = useReport();
  const { persistence } = useSyncStatus();
  const [exists, setExists] = useState<boolean | null>(null);
  const [starting, setStarting] = useState(false);
  const [end, setEnd] = useState(takeLastEnd);
  const { done: steps } = undoHistoryOf(client);
  const [stepCount] = useState(steps.length);
  useEffect(() => {
    let isShown = true;
    client.listBranches().then(
      (branches) => isShown && setExists(branches.some(({ name }) => name === whatIfName)),
      (error: unknown) => isShown && report(error),
    );
    return () => {
      isShown = false;
    };
  }, [client, report]);
  const enter = (): void => {
    location.hash = hashOf(budget, { page: 'envelopes', view: 'what-if' });
  };
  const start = (): void => {
    setStarting(true);
    run(async () => {
      try {
        const branch = await client.branch(whatIfName);
        await branch.close();
        enter();
      } finally {
        setStarting(false);
      }
    });
  };
  return (
    <>
      <h1>What if</h1>
      {end !== null && (
        <p className="offer" role="status">
          {end === 'thrown-away' ? (
            <span>The what-if was discarded. The budget is unchanged.</span>
          ) : (
            <>
              <span>The what-if was applied. The budget now has its changes.</span>
              <button
                type="button"
                onClick={() =>
                  run(async () => {
                    // Once: a second undo would undo an earlier action. The undo shortcut may have been used already.
                    setEnd(null);
                    if (steps.length !== stepCount) return;
                    steps.pop();
                    await client.undo();
                  })
                }
              >
                Undo
              </button>
            </>
          )}
        </p>
      )}
      <section className="card form" aria-label="Try a plan">
        <h2>{exists === true ? 'A what-if is open' : 'Try a plan for next month'}</h2>
        <p>
          A what-if is a copy of the budget on this device. Assign different amounts, add entries that you plan, and see
          what they do to each envelope. Nobody else sees it, and the budget stays as it is until you apply the changes.
          You can also discard them.
        </p>
        {persistence === 'memory' ? (
          <p className="hint">Nothing is saved on this device, so a what-if cannot be kept here.</p>
        ) : (
          exists !== null && (
            <div className="buttons">
              {exists ? (
                <>
                  <button type="button" className="primary" onClick={enter}>
                    Continue
                  </button>
                  <a href={hashOf(budget, { page: 'what-if', view: 'what-if' })}>Compare with today</a>
                </>
              ) : (
                <button type="button" className="primary" disabled={starting} onClick={start}>
                  {starting ? 'Copying the budget …' : 'Start a what-if'}
                </button>
              )}
            </div>
          )
        )}
      </section>
    </>
  );
}
