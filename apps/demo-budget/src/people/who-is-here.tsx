import { usePresence } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { hashOf } from '../shell/navigation.ts';
import { initials, peopleOf } from './people.ts';

const shownAtMost = 3;

/**
 * The people who have the budget open, as circles that link to the sharing page. Announces this tab and its page to the
 * others.
 */
export function WhoIsHere({
  budget,
  device,
  page,
}: {
  readonly budget: Budget;
  readonly device: string;
  readonly page: string;
}): ReactNode {
  const people = peopleOf(usePresence({ page }), device);
  const names = people.map(({ name }) => name).join(', ');
  return (
    <a
      className="who-is-here"
      href={hashOf(budget, { page: 'share' })}
      hidden={people.length === 0}
      aria-label={`Also here: ${names}`}
      title={`Also here: ${names}`}
    >
      {people.slice(0, shownAtMost).map(({ principal, name, color }) => (
        <span key={principal} className="person" style={{ borderColor: color }} aria-hidden="true">
          {initials(name)}
        </span>
      ))}
      {people.length > shownAtMost && (
        <span className="person" aria-hidden="true">
          +{people.length - shownAtMost}
        </span>
      )}
    </a>
  );
}
