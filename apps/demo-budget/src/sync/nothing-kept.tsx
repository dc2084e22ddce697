import { useSyncStatus } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { changes } from './status-sentence.ts';

/** Says, for as long as it is so, that this tab is the only place on this device that has the budget. */
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
