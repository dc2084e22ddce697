import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Clock } from '../leader/clock.ts';
import type { LeaderTools, LeaderWork } from '../leader/leadership.ts';
import type { OpenDatabase } from '../database/open-database.ts';

/** Nothing was committed for this long: nobody waits for this worker. */
const QUIET_MS = 20_000;

/** An accident that nobody noticed must not stay for ever. */
const INTERVAL_MS = 60 * 60 * 1000;

export interface SearchUpkeep extends LeaderWork {
  /** A delivery was committed. A write of a tab is told as `onLocalCommit`. */
  onDelivery(): void;
}

/**
 * Looks at the search indexes in quiet moments, whether the database is synced or not, and makes anew what does not fit
 * its rows: in the first one after this tab began to lead, then about every hour. What was damaged is told as
 * `search-index-damaged`.
 */
export function startSearchUpkeep(
  {
    database,
    inTurn,
    publishCommit,
    publishProblem,
  }: Pick<LeaderTools<OpenDatabase>, 'database' | 'inTurn' | 'publishCommit' | 'publishProblem'>,
  clock: Clock,
): SearchUpkeep {
  const { searchIndexes } = database;
  let dueMs = clock.elapsedMs();
  let cancel = (): void => undefined;
  let isStopped = false;

  function wait(): void {
    cancel();
    if (isStopped || searchIndexes.count === 0) return;
    cancel = clock.after(Math.max(QUIET_MS, dueMs - clock.elapsedMs()), () => inTurn(checkIndexes));
  }

  function checkIndexes(): void {
    if (isStopped) return;
    dueMs = clock.elapsedMs() + INTERVAL_MS;
    try {
      const repaired = searchIndexes.repair();
      if (repaired.length > 0) publishCommit({ tables: [...new Set(repaired.map(({ table }) => table))], changes: [] });
      for (const fields of repaired) publishProblem(new RockpoolError('search-index-damaged', fields));
    } catch (thrown) {
      publishProblem(toRockpoolError(thrown));
    }
    wait();
  }

  wait();
  return {
    onLocalCommit: wait,
    onDelivery: wait,
    tryNow: () => undefined,
    stop: async () => {
      isStopped = true;
      cancel();
    },
  };
}
