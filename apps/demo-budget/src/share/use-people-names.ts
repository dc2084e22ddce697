import { useEffect, useState } from 'react';
import type { Budget } from '../budget/budget.ts';
import { fetchPeople } from './members.ts';

/**
 * Members' names by the principal that authors their changes; empty until the server responds, or if it is unreachable.
 */
export function usePeopleNames(budget: Budget): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    fetchPeople(budget).then(
      (people) => setNames(new Map(people.map(({ principal, name }) => [principal, name]))),
      // On failure, authors appear as other devices; no error is shown.
      () => undefined,
    );
  }, [budget]);
  return names;
}
