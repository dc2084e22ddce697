import { RockpoolError, type Client, type RowVersion, type SqlRow } from '@rockpool/client';
import type { HistoryRow } from './moments.ts';

/** An entry with its parts, by column, at one moment. */
export interface EntryState {
  /** Null if the entry did not exist. */
  readonly entry: SqlRow | null;
  /** In the order of their ids. */
  readonly parts: readonly SqlRow[];
}

type Reader = Pick<Client, 'history' | 'query'>;

/**
 * Returns the ids of all parts that an entry ever had, if known. Parts are numbered, `ENTRY/1`, `ENTRY/2` …, so the
 * first number without a history is the end.
 */
export async function partIdsOf(client: Reader, entryId: string): Promise<string[]> {
  const current = await client.query<{ id: string }>('SELECT id FROM parts WHERE entryId = ?', [entryId]);
  const ids = new Set(current.map(({ id }) => id));
  for (let number = 1; ; number += 1) {
    const id = `${entryId}/${number}`;
    if (ids.has(id)) continue;
    const history = await client.history('parts', id);
    const { versions } = await history.page({ limit: 1 });
    if (versions.length === 0) return [...ids].sort(byNumber);
    ids.add(id);
  }
}

function byNumber(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

/** The rows whose histories are the history of an entry. */
export function rowsOfEntry(entryId: string, partIds: readonly string[]): HistoryRow[] {
  return [{ table: 'entries', key: entryId }, ...partIds.map((key): HistoryRow => ({ table: 'parts', key }))];
}

export async function currentState(client: Reader, entryId: string): Promise<EntryState> {
  const [[entry], parts] = await Promise.all([
    client.query('SELECT * FROM entries WHERE id = ?', [entryId]),
    client.query('SELECT * FROM parts WHERE entryId = ? ORDER BY length(id), id', [entryId]),
  ]);
  return { entry: entry ?? null, parts };
}

/** The entry as a version left it. Needs the server. Rejects with `history-version-gone` if part of it is not kept. */
export async function stateAt(
  client: Reader,
  entryId: string,
  partIds: readonly string[],
  version: number,
): Promise<EntryState> {
  const rowAt = async ({ table, key }: HistoryRow): Promise<SqlRow | null> => {
    const history = await client.history(table, key);
    const { versions, isTruncated, error } = await history.page({ before: version + 1, limit: 1 });
    if (error !== null) throw error;
    const [newest] = versions;
    if (newest === undefined && isTruncated) throw new RockpoolError('history-version-gone', { table });
    if (newest === undefined || newest.kind === 'delete' || newest.version === null) return null;
    return await history.at(newest.version);
  };
  const [entry = null, ...parts] = await Promise.all(rowsOfEntry(entryId, partIds).map(rowAt));
  return { entry, parts: parts.filter((part) => part !== null) };
}

/**
 * The entry before it was deleted, with the parts that were deleted in the same transaction. Needs the server, since
 * only the merged delete has all of them. Rejects with the error of the connection, and with `history-version-gone` if
 * the entry was not deleted or its values are not kept.
 */
export async function stateBeforeDelete(client: Reader, entryId: string): Promise<EntryState> {
  const newestOf = async ({ table, key }: HistoryRow): Promise<RowVersion | undefined> => {
    const history = await client.history(table, key);
    const { versions, error } = await history.page({ limit: 1 });
    if (error !== null) throw error;
    return versions[0];
  };
  const deleted = await newestOf({ table: 'entries', key: entryId });
  if (deleted?.kind !== 'delete' || deleted.version === null)
    throw new RockpoolError('history-version-gone', { table: 'entries' });
  const partIds = await partIdsOf(client, entryId);
  const parts = await Promise.all(
    partIds.map(async (key) => {
      const newest = await newestOf({ table: 'parts', key });
      return newest?.kind === 'delete' && newest.version === deleted.version ? rowBefore('id', key, newest) : null;
    }),
  );
  return { entry: rowBefore('id', entryId, deleted), parts: parts.filter((part) => part !== null) };
}

/** The row that a delete removed: the version of a delete has all columns outside the key. */
function rowBefore(keyColumn: string, key: string, { changes }: RowVersion): SqlRow {
  return Object.fromEntries([[keyColumn, key], ...changes.map(({ column, before }) => [column, before] as const)]);
}
