import { useEffect, useState } from 'react';
import type { RowKey, RowSyncState } from '../client.ts';
import { useMaybeClient } from './client-context.ts';
import { useSyncStatus } from './use-sync-status.ts';

/**
 * Where the changes of one row are, on their way to the server; asked again whenever something about sync has changed.
 * Null until the first answer, and where the row cannot be asked about. `key` as in `client.rowSyncState`; an array may
 * be written in place.
 */
export function useRowSyncState(table: string, key: RowKey): RowSyncState | null {
  const client = useMaybeClient();
  const status = useSyncStatus();
  const [known, setKnown] = useState<{ readonly of: string; readonly rowSyncState: RowSyncState } | null>(null);
  const of = JSON.stringify([table, key], (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  useEffect(() => {
    let isCurrent = true;
    client?.rowSyncState(table, key).then(
      (rowSyncState) => {
        if (isCurrent) setKnown({ of, rowSyncState });
      },
      () => {
        if (isCurrent) setKnown(null);
      },
    );
    return () => {
      isCurrent = false;
    };
    // `of` stands for table and key, whose array may be another one each time.
  }, [client, of, status]);
  return known?.of === of ? known.rowSyncState : null;
}
