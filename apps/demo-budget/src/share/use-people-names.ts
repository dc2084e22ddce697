import { useEffect, useState } from 'react';
import type { Budget } from '../budget/budget.ts';
import { fetchPeople } from './members.ts';

/**
 * What those who were let into the budget are called, by how they sign their changes; empty while the server has not
 * said it, or cannot be reached.
 */
export function usePeopleNames(budget: Budget): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    fetchPeople(budget).then(
      (people) => setNames(new Map(people.map(({ principal, name }) => [principal, name]))),
      // Then they are other devices: nothing that a person has to be told.
      () => undefined,
    );
  }, [budget]);
  return names;
}
