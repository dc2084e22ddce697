import type { SyncStatus } from '@rockpool/client';
import { table, time } from './dom.ts';
import type { MakePanel } from './panel.ts';

const MOST_ENTRIES = 500;

/** The sync statuses since the devtools were opened, newest first. */
export const timelinePanel: MakePanel = (client) => {
  const entries: { readonly atMs: number; readonly status: SyncStatus }[] = [];
  const close = client.status.subscribe((status) => {
    entries.unshift({ atMs: Date.now(), status });
    entries.length = Math.min(entries.length, MOST_ENTRIES);
  });
  return {
    title: 'Sync',
    isLive: true,
    close,
    draw(into) {
      const rows = entries.map(({ atMs, status: { state, pendingCount, rejectedCount, userMayWrite, reason } }) => [
        time(atMs),
        state,
        pendingCount,
        rejectedCount,
        userMayWrite === null ? null : userMayWrite ? 'yes' : 'no',
        reason?.code ?? null,
      ]);
      into.replaceChildren(table(['time', 'state', 'waiting', 'rejected', 'may write', 'reason'], rows));
    },
  };
};
