import { useClient, useSyncStatus } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useReport } from '../shell/failure.tsx';
import { pauseByUser } from './reconnect.ts';

export function SyncControls({ budget }: { readonly budget: Budget }): ReactNode {
  const client = useClient();
  const { sync } = client;
  const report = useReport();
  const { state } = useSyncStatus();
  const isPaused = state === 'paused';
  const mayTry = state === 'offline' || state === 'unavailable' || state === 'needs-auth' || state === 'blocked';
  return (
    <div className="sync-controls">
      <button type="button" onClick={() => void sync.tryNow().catch(report)} disabled={!mayTry}>
        Try now
      </button>
      <button
        type="button"
        onClick={() => {
          (isPaused ? sync.resume() : pauseByUser(client, budget.databaseId)).catch(report);
        }}
      >
        {isPaused ? 'Resume sync' : 'Pause sync'}
      </button>
    </div>
  );
}
