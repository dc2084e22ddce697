import { table } from './dom.ts';
import type { MakePanel } from './panel.ts';

/** The live queries of this tab, and what they cost. */
export const livePanel: MakePanel = (client) => ({
  title: 'Live queries',
  isLive: true,
  draw(into) {
    const rows = client
      .liveQueries()
      .map(({ sql, rowCount, listenerCount, resultCount, lastMs }) => [
        sql,
        rowCount,
        listenerCount,
        resultCount,
        lastMs?.toFixed(1) ?? null,
      ]);
    into.replaceChildren(table(['query', 'rows', 'listeners', 'results', 'last run, ms'], rows));
  },
});
