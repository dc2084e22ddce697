import { RockpoolError } from '@rockpool/shared';
import { type Connection, NAMESPACE } from '../../postgres/connection.ts';

/**
 * The mark that a move writes into the row of a database at a shard: `source` is frozen, `target` is being filled, and
 * `moved` has been left. No instance commits to a database with a mark. The directory decides how the move ends.
 */
export interface MoveMark {
  /** A later move has a higher id. */
  readonly moveId: number;
  readonly role: 'source' | 'target' | 'moved';
}

export const MARK_COLUMNS = 'move_id, move_role';

export function readMark(moveId: unknown, role: unknown): MoveMark | null {
  return typeof role === 'string' ? { moveId: Number(moveId), role: role as MoveMark['role'] } : null;
}

/** `database-unavailable`, so clients retry automatically and then find the database at its shard. */
export class DatabaseMoving extends RockpoolError {
  readonly mark: MoveMark;

  constructor(mark: MoveMark) {
    super('database-unavailable', { problem: 'the database is moving to another PostgreSQL server' });
    this.mark = mark;
  }
}

/** Locks the row of a database and returns its mark, null without one, or undefined without a row. */
export async function lockMark(connection: Connection, databaseId: string): Promise<MoveMark | null | undefined> {
  const [row] = await connection.query(
    `SELECT ${MARK_COLUMNS} FROM ${NAMESPACE}.rockpool_database WHERE id = $1 FOR UPDATE`,
    [databaseId],
  );
  return row === undefined ? undefined : readMark(row[0], row[1]);
}

export async function writeMark(connection: Connection, databaseId: string, mark: MoveMark | null): Promise<void> {
  await connection.query(`UPDATE ${NAMESPACE}.rockpool_database SET move_id = $2, move_role = $3 WHERE id = $1`, [
    databaseId,
    mark?.moveId ?? null,
    mark?.role ?? null,
  ]);
}
