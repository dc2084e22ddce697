import type { Client } from '../client.ts';
import { time, table } from './dom.ts';
import { describeLoop, explainQuery } from './explain-query.ts';
import { liveQueries, type LiveQueryInfo } from './live-queries.ts';
import type { MakePanel } from './panel.ts';

/** The live queries of this tab and their cost. */
export const livePanel: MakePanel = (client) => ({
  title: 'Live queries',
  isLive: true,
  async draw(into) {
    const queries = await liveQueries(client);
    const loops = await Promise.all(queries.map((query) => loopText(client, query)));
    const rows = queries.map((query, index) => [
      query.sql,
      dependencyText(query),
      loops[index] ?? null,
      query.rowCount,
      query.listenerCount,
      query.resultCount,
      query.wakeCount,
      query.lastRunAtMs === null ? null : time(query.lastRunAtMs),
      query.lastRunMs?.toFixed(1) ?? null,
    ]);
    into.replaceChildren(
      table(
        ['query', 'reads', 'executed by', 'rows', 'listeners', 'results', 'wake-ups', 'last run', 'took, ms'],
        rows,
      ),
    );
  },
});

/** Null for a query that no longer compiles. */
async function loopText(client: Client, { sql, params }: LiveQueryInfo): Promise<string | null> {
  try {
    return (await explainQuery(client, sql, params)).map(describeLoop).join('\n');
  } catch {
    return null;
  }
}

function dependencyText({ dependencies }: LiveQueryInfo): string | null {
  return (
    dependencies
      ?.map(({ table: name, columns }) => `${name} (${columns.filter((column) => column !== '').join(', ')})`)
      .join('\n') ?? null
  );
}
