import { time, table } from './dom.ts';
import { liveQueries, type LiveQueryInfo } from './live-queries.ts';
import type { MakePanel } from './panel.ts';

/** The live queries of this tab and what they cost. */
export const livePanel: MakePanel = (client) => ({
  title: 'Live queries',
  isLive: true,
  async draw(into) {
    const rows = (await liveQueries(client)).map((query) => [
      query.sql,
      dependencyText(query),
      query.rowCount,
      query.listenerCount,
      query.resultCount,
      query.wakeCount,
      query.lastRunAtMs === null ? null : time(query.lastRunAtMs),
      query.lastRunMs?.toFixed(1) ?? null,
    ]);
    into.replaceChildren(
      table(['query', 'reads', 'rows', 'listeners', 'results', 'wake-ups', 'last run', 'took, ms'], rows),
    );
  },
});

function dependencyText({ dependencies }: LiveQueryInfo): string | null {
  return (
    dependencies
      ?.map(({ table: name, columns }) => `${name} (${columns.filter((column) => column !== '').join(', ')})`)
      .join('\n') ?? null
  );
}
