import { RockpoolError } from '@rockpool/shared';
import { type Connection, NAMESPACE } from '../../postgres/connection.ts';

/**
 * The mark that a move or a deletion writes into the row of a database at a shard: `source` is frozen, `target` is
 * being filled, `moved` has been left, and `deleted` is being deleted. No instance commits to a database with a mark.
 * The directory decides how a move ends; only the command ends a deletion.
 */
export interface MoveMark {
  /** A later move has a higher id. 0 for a deletion. */
  readonly moveId: number;
  readonly role: 'source' | 'target' | 'moved' | 'deleted';
}

export const DELETED: MoveMark = { moveId: 0, role: 'deleted' };

export const MARK_COLUMNS = 'move_id, move_role';

export function readMark(moveId: unknown, role: unknown): MoveMark | null {
  return typeof role === 'string' ? { moveId: Number(moveId), role: role as MoveMark['role'] } : null;
}

/** `database-unavailable`, so clients retry automatically and then find the database at its shard, or a new one. */
export class DatabaseMarked extends RockpoolError {
  readonly mark: MoveMark;

  constructor(mark: MoveMark) {
    const isDeleted = mark.role === 'deleted';
    super('database-unavailable', {
      problem: isDeleted ? 'the database is being deleted' : 'the database is moving to another PostgreSQL server',
    });
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

/** An instance of an earlier version removes a mark that the directory does not know, unless the mark has no id. */
export async function writeMark(connection: Connection, databaseId: string, { moveId, role }: MoveMark): Promise<void> {
  await connection.query(
    `UPDATE ${NAMESPACE}.rockpool_database SET move_id = nullif($2::bigint, 0), move_role = $3 WHERE id = $1`,
    [databaseId, moveId, role],
  );
}

/** Whether two marks are the same. A database without a row, or without a mark, has none. */
export function isSameMark(mark: MoveMark | null | undefined, { moveId, role }: MoveMark): boolean {
  return mark?.moveId === moveId && mark.role === role;
}
