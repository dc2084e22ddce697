import { useEffect, useState } from 'react';
import type { Budget } from '../budget/budget.ts';
import { withDeviceItems } from '../budget/device-items.ts';
import { fetchAuthorNames } from './members.ts';

/** Authors' names by principal: those of the last visit, then the server's. */
export function usePeopleNames(budget: Budget): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    const item = `names-${budget.databaseId}`;
    const load = async (): Promise<void> => {
      const kept = await withDeviceItems((items) => items.getItem(item));
      if (kept !== null) setNames(new Map(JSON.parse(kept) as [string, string][]));
      const fetched = await fetchAuthorNames(budget);
      setNames(fetched);
      await withDeviceItems((items) => items.setItem(item, JSON.stringify([...fetched])));
    };
    // Without the server, the names of the last visit remain; no error is shown.
    load().catch(() => undefined);
  }, [budget]);
  return names;
}
