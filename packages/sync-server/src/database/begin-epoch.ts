import { RockpoolError } from '@rockpool/shared';
import type { OpenDatabase } from '../store/durability.ts';
import type { Sessions } from './sessions.ts';

/**
 * Begins a log epoch after the log has lost entries. Sessions of the old epoch hold watermarks that now name other
 * changesets, so they end with `epoch-changed`, reconnect and resync. Null: done.
 *
 * `startedAt`: the watermark up to which the log is common to both epochs.
 */
export function beginEpoch(
  database: OpenDatabase,
  { sessions, startedAt }: { readonly sessions: Sessions; readonly startedAt: number },
): Promise<void> | null {
  const ofOldEpoch = sessions.subscribed();
  const endSessions = (): void => {
    for (const { subscriber } of ofOldEpoch)
      if (sessions.subscriptionOf(subscriber) !== undefined) subscriber.fail(new RockpoolError('epoch-changed'));
  };
  const { logEpoch } = database.file;
  const { id } = logEpoch;
  const done = database.commit(() => {
    // After a restore all clients are ahead of the log. Another session, here or at another instance, may have begun an
    // epoch while this commit waited for its turn.
    const hasBegun = Buffer.compare(logEpoch.id, id) !== 0 && logEpoch.startedAt <= startedAt;
    if (!hasBegun) logEpoch.renew(startedAt);
  });
  if (done instanceof Promise) return done.then(endSessions);
  endSessions();
  return null;
}
