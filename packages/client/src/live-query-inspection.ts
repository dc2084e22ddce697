import type { Client } from './client.ts';
import type { LiveState } from './interface/live-query.ts';
import type { LiveQueryRuns } from './rpc/worker-api.ts';
import type { SqlStatement } from './rpc/sql-statement.ts';
import type { SqlRow } from './rpc/sql-value.ts';

/** The running live queries of a page. */
export interface InspectedLiveQueries {
  /** Asks the worker, which knows the cost of each. */
  readonly source: {
    call(
      run: (worker: { liveQueryRuns(): Promise<readonly LiveQueryRuns[]> }) => Promise<readonly LiveQueryRuns[]>,
    ): Promise<readonly LiveQueryRuns[]>;
  };
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
 * Connects the devtools to the live queries of a client. Separate from the client, because only devtools need the cost
 * of a query, and a page without them should not load this code.
 */
export const liveQueryInspections: WeakMap<Client, InspectedLiveQueries> = new WeakMap();
