import { RockpoolError, type Client, type StatementResult } from '@rockpool/client';
import { button, element, table } from './dom.ts';
import { describeSource, explainQuery } from './explain-query.ts';
import type { MakePanel } from './panel.ts';

/** Does not run a query as a write: a write clears the steps that can be redone, and stores its result for a day. */
async function runSql(client: Client, sql: string): Promise<StatementResult> {
  try {
    return { rows: await client.query(sql), changes: 0 };
  } catch (thrown) {
    if (thrown instanceof RockpoolError && thrown.code === 'sql-read-only') return client.execute(sql);
    throw thrown;
  }
}

/** Runs SQL, and shows for each loop of a query whether operators or SQLite execute it. */
export const consolePanel: MakePanel = (client) => ({
  title: 'SQL',
  isLive: false,
  draw(into) {
    const input = element('textarea', '');
    input.value = 'SELECT * FROM sqlite_schema';
    input.setAttribute('aria-label', 'SQL');
    const output = element('div', '');
    const run = async (): Promise<void> => {
      const startedMs = performance.now();
      try {
        const { rows, changes } = await runSql(client, input.value);
        const took = `${(performance.now() - startedMs).toFixed(1)} ms`;
        output.replaceChildren(
          element('p', '', `${rows.length} rows, ${changes} changed, ${took}`),
          table(
            Object.keys(rows[0] ?? {}),
            rows.map((row) => Object.values(row)),
          ),
        );
      } catch (thrown) {
        output.replaceChildren(element('p', 'error', String(thrown)));
      }
    };
    const explain = async (): Promise<void> => {
      try {
        const loops = await explainQuery(client, input.value);
        output.replaceChildren(
          table(
            ['reads', 'executed by', 'in batches', 'why SQLite'],
            loops.map((loop) => [describeSource(loop), loop.execution, loop.batches, loop.whyNot ?? '']),
          ),
        );
      } catch (thrown) {
        output.replaceChildren(element('p', 'error', String(thrown)));
      }
    };
    into.replaceChildren(
      input,
      button('Run', () => void run()),
      button('Explain', () => void explain()),
      output,
    );
  },
});
