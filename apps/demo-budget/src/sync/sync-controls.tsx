import { useClient, useSyncStatus } from '@rockpool/client/react';
import type { ReactNode } from 'react';

export function SyncControls(): ReactNode {
  const { sync } = useClient();
  const { state } = useSyncStatus();
  const isPaused = state === 'paused';
  const mayTry = state === 'offline' || state === 'unavailable' || state === 'needs-auth' || state === 'blocked';
  return (
    <div className="sync-controls">
      <button type="button" onClick={() => void sync.tryNow()} disabled={!mayTry}>
        Try now
      </button>
      <button type="button" onClick={() => void (isPaused ? sync.resume() : sync.pause())}>
        {isPaused ? 'Resume sync' : 'Pause sync'}
      </button>
    </div>
  );
}
