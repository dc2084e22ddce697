import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Clock } from '../leader/clock.ts';
import type { LeaderTools, LeaderWork } from '../leader/leadership.ts';
import type { SearchIndexes } from './search-indexes.ts';

/** After this long without a commit, no user is waiting for this worker. */
const QUIET_MS = 20_000;

/** Damage that queries do not reveal must be found within this time. */
const INTERVAL_MS = 60 * 60 * 1000;

export interface SearchUpkeep extends LeaderWork {
  /** Called after a delivery was committed. After a write of a tab, `onLocalCommit` is called. */
  onDelivery(): void;
}

/**
 * Checks the search indexes in quiet moments, whether the database is synced or not, and rebuilds those that differ
 * from their rows: for the first time after this tab became the leader, then about every hour. Reports damage as
 * `search-index-damaged`.
 */
export function startSearchUpkeep(
  {
    database,
    inTurn,
    publishCommit,
    publishProblem,
  }: Pick<
    LeaderTools<{ readonly searchIndexes: Pick<SearchIndexes, 'count' | 'repair'> }>,
    'database' | 'inTurn' | 'publishCommit' | 'publishProblem'
  >,
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
