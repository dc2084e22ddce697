import { useSyncExternalStore, type ReactNode } from 'react';
import { onWaitingVersion, takeVersion, waitingVersion } from './app-update.ts';

/** Offers a newer version of the app but never forces it, so that no user is interrupted. */
export function UpdateOffer(): ReactNode {
  const version = useSyncExternalStore(onWaitingVersion, waitingVersion);
  if (version === null) return null;
  return (
    <p className="offer" role="status">
      <span>A new version of the app is ready.</span>
      <button type="button" onClick={() => takeVersion(version)}>
        Update now
      </button>
    </p>
  );
}
