import { useSyncStatus } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { changes } from './status-sentence.ts';

/** Says, for as long as it is so, that this tab is the only place on this device that has the budget. */
export function NothingKept(): ReactNode {
  const { persistence, pendingCount } = useSyncStatus();
  if (persistence !== 'memory') return null;
  return (
    <p className="nothing-kept" role="status">
      Nothing is kept on this device: what the server does not have when this tab closes is lost.{' '}
      {pendingCount === 0 ? 'It has everything now.' : `Not there yet: ${changes(pendingCount)}.`}
    </p>
  );
}
