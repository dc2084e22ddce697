import type { Client, SqlParam } from '@rockpool/client';
import { liveQueryInspections } from '../live-query-inspection.ts';

/** The dependencies and cost of a running live query. */
export interface LiveQueryInfo {
  readonly sql: string;
  readonly params: readonly SqlParam[];
  readonly rowCount: number;
  readonly listenerCount: number;
  /** How often the page received a changed result or an error. */
  readonly resultCount: number;
  /**
   * The tables that it reads, each with the columns; `''` stands for the number of rows of a table. Null until they are
   * known: until then, every commit runs the query again.
   */
  readonly dependencies: readonly { readonly table: string; readonly columns: readonly string[] }[] | null;
  /** How often the query ran because a commit touched what it reads, not counting its first run. */
  readonly wakeCount: number;
  /** Wall time in ms at the end of the last run; null before the first run. */
  readonly lastRunAtMs: number | null;
  /** Duration of that run in the worker, in ms; null before the first run, and if the run failed. */
  readonly lastRunMs: number | null;
}

/**
 * Lists the live queries that this tab runs now: what each reads, when and how long it ran last, and how often commits
 * made it run again.
 *
 * ```ts
 * console.table(await liveQueries(client));
 * ```
 */
export async function liveQueries(client: Client): Promise<LiveQueryInfo[]> {
  const inspected = liveQueryInspections.get(client);
  if (inspected === undefined) return [];
  const known = await inspected.source.call((worker) => worker.liveQueryRuns());
  return known.flatMap(({ queryId, dependencies, ...runs }) => {
    const watched = inspected.watchedById.get(queryId);
    if (watched === undefined) return [];
    return {
      sql: watched.statement.sql,
      params: watched.statement.params,
      rowCount: watched.state.rows.length,
      listenerCount: watched.listeners.count,
      resultCount: watched.resultCount,
      dependencies: dependencies?.map(({ table, columns }) => ({ table, columns })) ?? null,
      ...runs,
    };
  });
}
