import { button, element, table } from './dom.ts';
import type { MakePanel } from './panel.ts';

const MAX_ROWS = 100;

/** The tables and views with their first rows. */
export const tablesPanel: MakePanel = (client) => {
  let chosen: string | null = null;
  return {
    title: 'Tables',
    isLive: true,
    async draw(into) {
      // Hides the internal tables of search indexes.
      const tables = await client.query<{ name: string }>(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite_%' ORDER BY name LIKE 'rockpool_%', name",
      );
      const show = (name: string): void => {
        chosen = name;
        void this.draw(into);
      };
      // A view may have been dropped.
      if (!tables.some(({ name }) => name === chosen)) chosen = tables[0]?.name ?? null;
      const names = tables.map(({ name }) => {
        const choose = button(name, () => show(name));
        choose.setAttribute('aria-pressed', String(name === chosen));
        return choose;
      });
      const parts: Node[] = [element('div', 'choices', ...names)];
      if (chosen !== null) {
        const quoted = `"${chosen.replaceAll('"', '""')}"`;
        const [count] = await client.query<{ n: number }>(`SELECT count(*) AS n FROM ${quoted}`);
        const rows = await client.query(`SELECT * FROM ${quoted} LIMIT ${MAX_ROWS}`);
        parts.push(
          element('p', '', `${count?.n ?? 0} rows${rows.length < (count?.n ?? 0) ? `, the first ${MAX_ROWS}` : ''}`),
          table(
            Object.keys(rows[0] ?? {}),
            rows.map((row) => Object.values(row)),
          ),
        );
      }
      into.replaceChildren(...parts);
    },
  };
};
