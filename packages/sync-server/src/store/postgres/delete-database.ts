import { type Connections, NAMESPACE } from '../../postgres/connection.ts';
import { deleteRows } from './delete-rows.ts';
import { DatabaseMarked, DELETED, lockMark, writeMark } from './move-mark.ts';
import type { PostgresStore } from './postgres-store.ts';

/**
 * Deletes a database while instances run. A kill may follow any of the steps; calling this again completes the
 * deletion:
 *
 *   1  mark     no instance commits to the database or opens it any more, and its sessions end
 *   2  rows     in parts, because a statement that deletes a large database takes longer than PostgreSQL allows
 *   3  members  while no client can create the database again
 *   4  unmark   the row of the database is deleted; a client that connects creates a new one
 *
 * Throws `database-unavailable` while the database moves.
 */
export async function deleteDatabase(
  databaseId: string,
  server: { readonly connections: Connections; readonly store: PostgresStore },
  forgetMembers: () => Promise<void>,
): Promise<void> {
  const { connections } = server;
  await connections.transaction(databaseId, 'READ WRITE', async (connection) => {
    const mark = await lockMark(connection, databaseId);
    if (mark !== undefined && mark !== null && mark.role !== 'deleted') throw new DatabaseMarked(mark);
    await writeMark(connection, databaseId, DELETED);
    return { commit: true, result: undefined };
  });
  await deleteRows(databaseId, DELETED, server);
  await forgetMembers();
  await connections.query(`DELETE FROM ${NAMESPACE}.rockpool_database WHERE id = $1 AND move_role = $2`, [
    databaseId,
    DELETED.role,
  ]);
}
