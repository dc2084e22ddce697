import { createContext, useContext } from 'react';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { usePeopleNames } from '../share/use-people-names.ts';
import { authorName } from '../sync/author-name.ts';

interface Here {
  readonly budget: KnownBudget;
  /** The principal that authors this device's changes; see budget/device.ts. */
  readonly device: string;
}

const HereContext = createContext<Here | null>(null);

/** Tells the pages below it who uses the app. */
export const WhoProvider = HereContext.Provider;

/** Returns a function that names authors: `this device`, `Anna`, `another device`. Null is this device. */
export function useWhoIs(): (author: string | null) => string {
  const here = useContext(HereContext);
  if (here === null) throw new Error('useWhoIs needs a <WhoProvider> ancestor');
  const { budget, device } = here;
  const names = usePeopleNames(budget);
  return (author) => authorName(author ?? device, { device, names, isMember: budget.membership !== undefined });
}
