import type { RejectedChangeset } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { NOTHING_KNOWN, readKnownRows } from '../words/read-known-rows.ts';
import { withNewAccounts, type KnownRows } from '../words/row-differences.ts';
import { changedRows } from './rejected-words.ts';

/** The rejected transactions of this device, oldest first, and the names of their rows once they are read. */
export function useRejected(): { readonly rejected: readonly RejectedChangeset[]; readonly known: KnownRows | null } {
  const client = useClient();
  const { rejected: store } = client;
  const rejected = useSyncExternalStore(store.subscribe, () => store.current);
  const [known, setKnown] = useState<KnownRows | null>(null);
  useEffect(() => {
    let isCurrent = true;
    // Without the names, the list still shows the changes.
    const rows = rejected.flatMap(changedRows);
    void readKnownRows([client], rows)
      .catch(() => NOTHING_KNOWN)
      .then((read) => isCurrent && setKnown(withNewAccounts(read, rows)));
    return () => {
      isCurrent = false;
    };
  }, [client, rejected]);
  return { rejected, known };
}
