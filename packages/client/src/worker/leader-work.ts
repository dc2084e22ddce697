import { systemClock } from './leader/clock.ts';
import type { LeaderTools, LeaderWork } from './leader/leadership.ts';
import type { OpenDatabase } from './database/open-database.ts';
import { startSearchUpkeep } from './search/search-upkeep.ts';

/** Starts the leader's background work: the upkeep of search indexes, and sync if configured. */
export function startLeaderWork(
  tools: LeaderTools<OpenDatabase>,
  startSync: ((tools: LeaderTools<OpenDatabase>) => LeaderWork) | null,
): LeaderWork {
  const upkeep = startSearchUpkeep(tools, systemClock);
  if (startSync === null) return upkeep;
  const sync = startSync({
    ...tools,
    publishCommit: (touched) => {
      upkeep.onDelivery();
      tools.publishCommit(touched);
    },
  });
  return {
    onLocalCommit: () => {
      upkeep.onLocalCommit();
      sync.onLocalCommit();
    },
    tryNow: () => sync.tryNow(),
    stop: async () => void (await Promise.all([upkeep.stop(), sync.stop()])),
  };
}
