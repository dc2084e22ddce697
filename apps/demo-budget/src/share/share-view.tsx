import { useEffect, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { withDeviceItems } from '../budget/device-items.ts';
import { addBudget, knownBudgets, type KnownBudget } from '../budget/known-budgets.ts';
import { PeopleCard } from '../people/people-card.tsx';
import { formatShortId } from './short-id.ts';
import { useAction } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';

/** The link that opens this budget elsewhere, and the other budgets that this device knows. */
export function ShareView({ budget, device }: { readonly budget: Budget; readonly device: string }): ReactNode {
  const link = `${location.origin}${location.pathname}${hashOf(budget)}`;
  const [copied, setCopied] = useState<'no' | 'yes' | 'failed'>('no');
  const copy = (): void => {
    // Missing on pages that were loaded without encryption from another machine.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) return setCopied('failed');
    clipboard.writeText(link).then(
      () => setCopied('yes'),
      () => setCopied('failed'),
    );
  };
  const run = useAction();
  const [known, setKnown] = useState<readonly KnownBudget[]>([]);
  useEffect(() => {
    withDeviceItems(knownBudgets).then(setKnown, () => setKnown([]));
  }, []);
  const others = known.filter((other) => other.databaseId !== budget.databaseId);
  return (
    <>
      <h1>Share</h1>
      <section className="card">
        <h2>Open this budget on another device, or with someone else</h2>
        <p>Whoever has this link can read and change the whole budget. Send it only to people you would hand your wallet.</p>
        <label className="share-link">
          Share link
          <input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
        </label>
        <div className="buttons">
          <button type="button" className="primary" onClick={copy}>
            Copy the link
          </button>
          <span role="status" className="hint">
            {copied === 'yes' && 'Copied.'}
            {copied === 'failed' && 'The browser does not let this page copy. Select the link and copy it yourself.'}
          </span>
        </div>
      </section>
      <PeopleCard device={device} />
      <section>
        <h2>Budgets on this device</h2>
        <ul className="budgets">
          <li>
            Budget {formatShortId(budget.databaseId)} <span className="hint">open now</span>
          </li>
          {others.map((other) => (
            <li key={other.databaseId}>
              <a href={hashOf(other)}>Budget {formatShortId(other.databaseId)}</a> <span className="hint">{other.madeHere ? 'made here' : 'opened by a link'}</span>
            </li>
          ))}
        </ul>
        <button
          type="button"
          onClick={() =>
            run(async () => {
              location.hash = hashOf(await withDeviceItems(addBudget));
            })
          }
        >
          Begin another budget
        </button>
      </section>
    </>
  );
}
