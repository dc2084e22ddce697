import { useClient } from '@rockpool/client/react';
import { useEffect, useState, type ReactNode } from 'react';
import { Amount } from '../shell/amount.tsx';
import { useReport } from '../shell/failure.tsx';
import { formatDay, locale } from '../shell/locale.ts';
import { findMatches, type RuleMatches } from './matches.ts';
import type { Rule } from './rule.ts';

/** Waits for a pause in typing. */
const pauseMs = 200;

/** The matches of a rule, if it is complete. Undefined while they are loading. */
export function useMatches(rule: Pick<Rule, 'needs' | 'conditions'> | null): RuleMatches | undefined {
  const client = useClient();
  const report = useReport();
  const asked = rule === null ? null : JSON.stringify(rule);
  const [found, setFound] = useState<{ readonly asked: string; readonly matches: RuleMatches } | null>(null);
  useEffect(() => {
    if (asked === null) return undefined;
    let isWanted = true;
    const timer = setTimeout(() => {
      findMatches(client, JSON.parse(asked) as Rule, () => isWanted).then(
        (matches) => {
          if (isWanted && matches !== undefined) setFound({ asked, matches });
        },
        (error: unknown) => {
          if (isWanted) report(error);
        },
      );
    }, pauseMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [asked, client, report]);
  return found?.asked === asked ? found?.matches : undefined;
}

/**
 * The number of existing entries that a rule matches, and the newest of them. Undefined if they are loading. The line
 * is rendered from the start, because a button that moves down between press and release misses the click.
 */
export function RulePreview({ matches }: { readonly matches: RuleMatches | undefined }): ReactNode {
  return (
    <section className="rule-preview" aria-label="Matching entries">
      <p role="status">{matches === undefined ? 'Looking for matching entries …' : matchesSentence(matches)}</p>
      <ul>
        {matches?.newest.map((entry) => (
          <li key={entry.id}>
            <span className="hint">{formatDay(entry.date)}</span>
            <span className="rule-preview-payee">
              {entry.payee === '' ? 'No payee' : entry.payee}{' '}
              {entry.notes !== '' && <span className="hint">{entry.notes}</span>}
            </span>
            <Amount minor={entry.amountMinor} currency={entry.currency} signed />
          </li>
        ))}
      </ul>
    </section>
  );
}

function matchesSentence({ ids, newest }: RuleMatches): string {
  const count = ids.length;
  if (count === 0) return 'No existing entries match.';
  const words = count === 1 ? '1 existing entry matches' : `${count.toLocaleString(locale)} existing entries match`;
  return `${words}${count > newest.length ? ', such as' : ''}:`;
}
