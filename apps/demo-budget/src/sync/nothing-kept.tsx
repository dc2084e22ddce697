import { useSyncStatus } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { changes } from './status-sentence.ts';

/** A warning, shown all the time, that this tab holds the device's only copy of the budget. */
export function NothingKept(): ReactNode {
  const { persistence, pendingCount } = useSyncStatus();
  if (persistence !== 'memory') return null;
  return (
    <p className="nothing-kept" role="status">
      Nothing is saved on this device. Changes that the server does not have when this tab closes are lost.{' '}
      {pendingCount === 0 ? 'The server has everything now.' : `Waiting to sync: ${changes(pendingCount)}.`}
    </p>
  );
}
