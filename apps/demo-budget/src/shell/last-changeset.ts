import type { Client } from '@rockpool/client';

/**
 * The sequence of the last changeset that this device has written; null if it has written none. An action during which
 * it stays the same changed no synced row: its statements matched no row or wrote the values that were there. Such an
 * action is not a step of `client.undo`, which would undo the one before it.
 */
export async function lastChangeset(client: Pick<Client, 'query'>): Promise<number | null> {
  const [row] = await client.query<{ readonly sequence: number | null }>(
    'SELECT max(sequence) AS sequence FROM rockpool_changelog',
  );
  return row?.sequence ?? null;
}

/**
 * The number of changesets that this device has written since `before`, a result of `lastChangeset`. 1 if this device
 * had written none, because the number is then unknown. `otherwise` if the number cannot be read. At most `most`, the
 * transactions of this tab: those of other tabs are no steps of its `client.undo`.
 */
export async function writtenSince(
  client: Pick<Client, 'query'>,
  before: number | null,
  otherwise: number,
  most: number,
): Promise<number> {
  try {
    const after = await lastChangeset(client);
    if (after === before) return 0;
    return Math.min(most, before === null || after === null ? 1 : after - before);
  } catch {
    return otherwise;
  }
}
