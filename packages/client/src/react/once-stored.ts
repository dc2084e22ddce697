import type { Client, RowKey, SqlValue } from '@rockpool/client';

export interface Cell {
  readonly table: string;
  readonly key: RowKey;
  readonly column: string;
}

/** Calls back once a cell has a value, unless the returned function is called first. */
export function onceStored(client: Client, { table, key, column }: Cell, onStored: () => void): () => void {
  const waiting = new AbortController();
  const { signal } = waiting;
  const follow = async (): Promise<void> => {
    const keys = await client.query<{ name: string }>(
      'SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk',
      [table],
    );
    const matches = keys.map(({ name }) => `${quoted(name)} = ?`).join(' AND ');
    client
      .live(
        `SELECT 1 FROM ${quoted(table)} WHERE ${quoted(column)} IS NOT NULL AND ${matches}`,
        Array.isArray(key) ? (key as readonly SqlValue[]) : [key as SqlValue],
      )
      .subscribe(
        ({ rows }) => {
          if (rows.length === 0) return;
          waiting.abort();
          onStored();
        },
        { signal },
      );
  };
  // The component shows why the document is missing. A failure here concerns the whole client, which reports it.
  follow().catch(() => undefined);
  return () => waiting.abort();
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
