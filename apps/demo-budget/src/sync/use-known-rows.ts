import type { WaitingChangeset } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { useEffect, useState } from 'react';
import { NOTHING_KNOWN, readKnownRows } from '../words/read-known-rows.ts';
import { withNewAccounts, type KnownRows } from '../words/row-differences.ts';
import { changedRows } from './rejected-words.ts';

/** The names of the rows that these transactions change, once they are read; null before. */
export function useKnownRows(changesets: readonly Pick<WaitingChangeset, 'changes'>[]): KnownRows | null {
  const client = useClient();
  const [known, setKnown] = useState<KnownRows | null>(null);
  useEffect(() => {
    let isCurrent = true;
    // Without the names, the list still shows the changes.
    const rows = changesets.flatMap(changedRows);
    void readKnownRows([client], rows)
      .catch(() => NOTHING_KNOWN)
      .then((read) => isCurrent && setKnown(withNewAccounts(read, rows)));
    return () => {
      isCurrent = false;
    };
  }, [client, changesets]);
  return known;
}
