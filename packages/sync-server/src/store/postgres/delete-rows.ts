import type { Connections } from '../../postgres/connection.ts';
import { moveEnded } from './directory.ts';
import { DATABASE_COLUMN, qualifiedName } from './mirrored-table.ts';
import { isSameMark, lockMark, type MoveMark } from './move-mark.ts';
import type { PostgresStore } from './postgres-store.ts';

/** Bounds the time of one statement, because PostgreSQL ends a long one. */
const ROWS_PER_DELETE = 2_000;

/**
 * Deletes the rows of a marked database in parts. Its row in rockpool_database, which has the mark, stays. Throws
 * `database-unavailable` if the database no longer has the mark.
 */
export async function deleteRows(
  databaseId: string,
  mark: MoveMark,
  { connections, store }: { readonly connections: Connections; readonly store: PostgresStore },
): Promise<void> {
  for (const table of [...(await store.tables()).keys(), 'rockpool_commit']) {
    const name = qualifiedName(table);
    const deletePart = (): Promise<number> =>
      connections.transaction(databaseId, 'READ WRITE', async (connection) => {
        if (!isSameMark(await lockMark(connection, databaseId), mark)) throw moveEnded();
        const [[deleted] = []] = await connection.query(
          // Two partitions of a table have rows with the same ctid.
          `WITH deleted AS (DELETE FROM ${name} WHERE ${DATABASE_COLUMN} = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM ${name} WHERE ${DATABASE_COLUMN} = $1 LIMIT ${ROWS_PER_DELETE})) RETURNING 1)
           SELECT count(*) FROM deleted`,
          [databaseId],
        );
        return { commit: true, result: Number(deleted) };
      });
    while ((await deletePart()) === ROWS_PER_DELETE);
  }
}
