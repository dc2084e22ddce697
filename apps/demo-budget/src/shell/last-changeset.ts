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
 * The number of changesets that this device has written between two results of `lastChangeset`; 0 if they are equal. 1
 * if either is null, because the number is then unknown.
 */
export function writtenBetween(before: number | null, after: number | null): number {
  if (after === before) return 0;
  return before === null || after === null ? 1 : after - before;
}
