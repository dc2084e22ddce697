import type { RejectedChangeset } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { useSyncExternalStore } from 'react';
import type { KnownRows } from '../words/row-differences.ts';
import { useKnownRows } from './use-known-rows.ts';

/** The rejected transactions of this device, oldest first, and the names of their rows once they are read. */
export function useRejected(): { readonly rejected: readonly RejectedChangeset[]; readonly known: KnownRows | null } {
  const { rejected: store } = useClient();
  const rejected = useSyncExternalStore(store.subscribe, () => store.current);
  return { rejected, known: useKnownRows(rejected) };
}
