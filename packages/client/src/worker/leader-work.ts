import { systemClock } from './leader/clock.ts';
import type { LeaderTools, LeaderWork } from './leader/leadership.ts';
import type { OpenDatabase } from './database/open-database.ts';
import { startSearchUpkeep } from './search/search-upkeep.ts';
import { startWarmUp } from './warm-up/start-warm-up.ts';

/** Starts the leader's background work: warm-up, the upkeep of search indexes, and sync if configured. */
export function startLeaderWork(
  tools: LeaderTools<OpenDatabase>,
  startSync: ((tools: LeaderTools<OpenDatabase>) => LeaderWork) | null,
): LeaderWork {
  const upkeep = startSearchUpkeep(tools, systemClock);
  const works: LeaderWork[] = [startWarmUp(tools.database.connection.runtime, systemClock), upkeep];
  const sync = startSync?.({
    ...tools,
    publishCommit: (touched) => {
      upkeep.onDelivery();
      tools.publishCommit(touched);
    },
  });
  if (sync !== undefined) works.push(sync);
  return {
    onLocalCommit: () => {
      for (const work of works) work.onLocalCommit();
    },
    tryNow: () => {
      for (const work of works) work.tryNow();
    },
    ...(sync?.withdraw && { withdraw: sync.withdraw }),
    onRefused: (error) => sync?.onRefused?.(error),
    stop: async () => void (await Promise.all(works.map((work) => work.stop()))),
  };
}
