import { RockpoolError } from '@rockpool/shared';
import type { Durability, SyncTarget } from '../../rpc/worker-api.ts';

/** Options that all tabs of a database must share, because the leader writes and syncs for all of them. */
export interface TabOptions {
  /** Null if the tab does not sync. */
  readonly sync: Pick<SyncTarget, 'url' | 'databaseId' | 'principal'> | null;
  readonly durability: Durability;
}

/**
 * Why a tab cannot follow the leader; null if it can. `leaders`: the leader's options; undefined if its version does
 * not send them.
 */
export function optionsProblem(mine: TabOptions, leaders: TabOptions | undefined): RockpoolError | null {
  if (leaders === undefined) return null;
  const { sync } = mine;
  if (sync !== null && leaders.sync !== null) {
    if (sync.databaseId !== leaders.sync.databaseId)
      return new RockpoolError('database-mismatch', { belongsTo: leaders.sync.databaseId, asked: sync.databaseId });
    if (serverOf(sync.url) !== serverOf(leaders.sync.url)) return differs('sync.url');
    if (sync.principal !== leaders.sync.principal)
      return sync.principal === null || leaders.sync.principal === null
        ? differs('sync.principal')
        : new RockpoolError('other-principal');
  } else if (sync !== leaders.sync) return differs('sync');
  return mine.durability === leaders.durability ? null : differs('durability');
}

function differs(option: string): RockpoolError {
  return new RockpoolError('tab-options-differ', { option });
}

/** The server in a URL, without parts that may differ between tabs, such as a trace id in the query string. */
function serverOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/$/, '')}`;
}
