import type { Client, RowKey, RowSyncState } from '@rockpool/client';
import { useEffect, useState } from 'react';
import { useMaybeClient } from './client-context.ts';
import { useSyncStatus } from './use-sync-status.ts';

interface Known {
  readonly client: Client | null;
  readonly of: string;
  readonly rowSyncState: RowSyncState;
}

/**
 * Returns how far the changes to one row have come, and reads it again whenever the sync status changes. Null before
 * the first read and if the row cannot be read. An array literal as `key` is fine.
 */
export function useRowSyncState(table: string, key: RowKey): RowSyncState | null {
  const client = useMaybeClient();
  const status = useSyncStatus();
  const [known, setKnown] = useState<Known | null>(null);
  const of = JSON.stringify([table, key], (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  useEffect(() => {
    let isCurrent = true;
    client?.rowSyncState(table, key).then(
      (rowSyncState) => {
        if (isCurrent) setKnown({ client, of, rowSyncState });
      },
      () => {
        if (isCurrent) setKnown(null);
      },
    );
    return () => {
      isCurrent = false;
    };
    // `of` identifies table and key, because the caller may pass a new array each time.
  }, [client, of, status]);
  return known?.client === client && known.of === of ? known.rowSyncState : null;
}
