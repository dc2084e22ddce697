import type { Client, LiveState } from './client.ts';
import type { LiveQueryRuns } from './rpc/worker-api.ts';
import type { SqlStatement } from './rpc/sql-statement.ts';
import type { SqlRow } from './rpc/sql-value.ts';

/** What a page and its worker know about the live queries that run. */
export interface LiveQueryInspection {
  readonly runs: readonly LiveQueryRuns[];
  readonly watchedById: ReadonlyMap<
    number,
    {
      readonly statement: SqlStatement;
      readonly state: LiveState<SqlRow>;
      readonly listeners: { readonly count: number };
      readonly resultCount: number;
    }
  >;
}

/**
 * How the devtools reach the live queries of a client. Kept beside the client: an app needs them only to find out what
 * a query costs, and a page without devtools need not load code for that.
 */
export const liveQueryInspections: WeakMap<Client, () => Promise<LiveQueryInspection>> = new WeakMap();
