import type { OpenDatabase } from '../store/durability.ts';

/**
 * Begins a log epoch after the log has lost entries. Returns null if it is done. `endSessions` ends the sessions of the
 * old log epoch, including those that began while the commit waited for its turn.
 *
 * `startedAt` is the watermark up to which both log epochs have the same log.
 */
export function beginEpoch(
  database: OpenDatabase,
  { startedAt, endSessions }: { readonly startedAt: number; readonly endSessions: () => void },
): Promise<void> | null {
  const { logEpoch } = database.file;
  const { id } = logEpoch;
  const done = database.commit(() => {
    // After a restore all clients are ahead of the log. Another session, at this or another instance, may have begun a
    // log epoch while this commit waited for its turn.
    const hasBegun = Buffer.compare(logEpoch.id, id) !== 0 && logEpoch.startedAt <= startedAt;
    if (!hasBegun) logEpoch.renew(startedAt);
  });
  if (done instanceof Promise) return done.then(endSessions);
  endSessions();
  return null;
}
