import { RockpoolError } from '@rockpool/shared';
import { type Connections, NAMESPACE } from '../../postgres/connection.ts';
import { rankShards, type Shard } from '../../postgres/shard.ts';
import { DATABASE_COLUMN } from './mirrored-table.ts';

const DIRECTORY = `${NAMESPACE}.rockpool_directory`;
const SHARD = `${NAMESPACE}.rockpool_shard`;

/**
 * How long a move lasts after it was last renewed. After that, an instance may end it, so that a move that was killed
 * does not keep a frozen database from its clients.
 */
const FROZEN_MS = 30_000;

/** The shard of a database, and its move. */
export interface Placement {
  readonly shard: string;
  /** The move under way. Null if there is none. */
  readonly moveId: number | null;
  readonly isMoveExpired: boolean;
  /** The shard where an earlier move has left rows. */
  readonly movedFrom: string | null;
}

/** A move that has begun. It may switch the database as long as the directory names the move. */
export interface Move {
  readonly databaseId: string;
  /** A later move has a higher id. */
  readonly moveId: number;
  readonly from: string;
  readonly to: string;
}

/**
 * Records the shard of each database. The directory is stored at the first shard and decides every move: each of its
 * rows changes in one statement, and a step at another shard counts only if the directory allows it.
 */
export class Directory {
  private readonly connections: Connections;

  /** `connections` lead to the first shard, whose tables are prepared. */
  constructor(connections: Connections) {
    this.connections = connections;
  }

  async find(databaseId: string): Promise<Placement | null> {
    const [row] = await this.connections.query(
      `SELECT shard, move_id, move_expires < clock_timestamp(), moved_from FROM ${DIRECTORY} WHERE ${DATABASE_COLUMN} = $1`,
      [databaseId],
    );
    if (row === undefined) return null;
    const [shard, moveId, isMoveExpired, movedFrom] = row as [string, string | null, boolean | null, string | null];
    return {
      shard,
      moveId: moveId === null ? null : Number(moveId),
      isMoveExpired: isMoveExpired === true,
      movedFrom,
    };
  }

  /**
   * Assigns a shard to a database that the directory does not have yet, and returns the shard. A database that was at
   * the first server before it had shards stays there; a new one goes to the first of the ranked shards that is not
   * avoided.
   */
  async place(databaseId: string, shards: readonly Shard[], avoid: (name: string) => boolean): Promise<string> {
    const ranked = rankShards(databaseId, shards);
    const { name } = (ranked.find((shard) => !avoid(shard.name)) ?? ranked[0]) as Shard;
    const [first] = shards as readonly [Shard, ...Shard[]];
    await this.connections.query(
      `INSERT INTO ${DIRECTORY} (${DATABASE_COLUMN}, shard)
       SELECT $1, CASE WHEN EXISTS (SELECT 1 FROM ${NAMESPACE}.rockpool_database WHERE id = $1) THEN $3 ELSE $2 END
       ON CONFLICT DO NOTHING`,
      [databaseId, name, first.name],
    );
    const placement = await this.find(databaseId);
    if (placement === null) throw new Error('the placement of the database was deleted');
    return placement.shard;
  }

  /** The names of registered shards with the ids of their stores. */
  async shards(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.connections.query(`SELECT name, store_id FROM ${SHARD}`);
    return new Map(rows as [string, string][]);
  }

  /** How many databases the directory has at each shard. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.connections.query(`SELECT shard, count(*) FROM ${DIRECTORY} GROUP BY shard`);
    return new Map(rows.map(([shard, count]) => [shard as string, Number(count)]));
  }

  /** The databases among `databaseIds` that are at another shard. */
  async elsewhere(databaseIds: readonly string[], shard: string): Promise<ReadonlySet<string>> {
    const rows = await this.connections.query(
      `SELECT ${DATABASE_COLUMN} FROM ${DIRECTORY} WHERE ${DATABASE_COLUMN} = ANY ($1) AND shard <> $2`,
      [databaseIds, shard],
    );
    return new Set(rows.map(([id]) => id as string));
  }

  /** Adds a shard with the databases that it has. Returns how many of them the directory has at another shard. */
  async register(name: string, storeId: string, databaseIds: readonly string[]): Promise<number> {
    return this.connections.transaction(null, 'READ WRITE', async (connection) => {
      await connection.query(`INSERT INTO ${SHARD} (name, store_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
        name,
        storeId,
      ]);
      await connection.query(
        `INSERT INTO ${DIRECTORY} (${DATABASE_COLUMN}, shard) SELECT id, $2 FROM unnest($1::text[]) AS id ON CONFLICT DO NOTHING`,
        [databaseIds, name],
      );
      const [[conflicts] = []] = await connection.query(
        `SELECT count(*) FROM ${DIRECTORY} WHERE ${DATABASE_COLUMN} = ANY ($1) AND shard <> $2`,
        [databaseIds, name],
      );
      return { commit: Number(conflicts) === 0, result: Number(conflicts) };
    });
  }

  /** Removes a shard. The caller has checked that it has no databases. */
  async unregister(name: string): Promise<void> {
    await this.connections.query(`DELETE FROM ${SHARD} WHERE name = $1`, [name]);
  }

  /**
   * Begins a move. If an earlier move of the database was interrupted, its remaining steps no longer count. Returns
   * null if the database is already at the shard. Throws `storage-missing` if the directory does not have it.
   */
  async beginMove(databaseId: string, to: string): Promise<Move | null> {
    const [row] = await this.connections.query(
      `UPDATE ${DIRECTORY} SET move_id = nextval('${NAMESPACE}.rockpool_move'), move_to = $2, move_expires = ${EXPIRY}
       WHERE ${DATABASE_COLUMN} = $1 AND shard <> $2 RETURNING shard, move_id`,
      [databaseId, to],
    );
    if (row !== undefined) return { databaseId, moveId: Number(row[1]), from: row[0] as string, to };
    if ((await this.find(databaseId)) === null) throw new RockpoolError('storage-missing', { database: databaseId });
    return null;
  }

  /** Gives the move more time. Throws `database-unavailable` if it has been ended or replaced. */
  async renewMove({ databaseId, moveId }: Move): Promise<void> {
    const rows = await this.connections.query(
      `UPDATE ${DIRECTORY} SET move_expires = ${EXPIRY} WHERE ${DATABASE_COLUMN} = $1 AND move_id = $2 RETURNING 1`,
      [databaseId, moveId],
    );
    if (rows.length === 0) throw moveEnded();
  }

  /** Records that the database is at the other shard. Throws `database-unavailable` if the move has been ended. */
  async switchTo({ databaseId, moveId, from, to }: Move): Promise<void> {
    const rows = await this.connections.query(
      `UPDATE ${DIRECTORY} SET shard = $4, moved_from = $3, move_id = NULL, move_to = NULL, move_expires = NULL
       WHERE ${DATABASE_COLUMN} = $1 AND move_id = $2 AND shard = $3 RETURNING 1`,
      [databaseId, moveId, from, to],
    );
    if (rows.length === 0) throw moveEnded();
  }

  /** Ends a move that was not renewed in time. Returns whether it could be ended. */
  async endExpiredMove(databaseId: string, moveId: number): Promise<boolean> {
    const rows = await this.connections.query(
      `UPDATE ${DIRECTORY} SET move_id = NULL, move_to = NULL, move_expires = NULL
       WHERE ${DATABASE_COLUMN} = $1 AND move_id = $2 AND move_expires < clock_timestamp() RETURNING 1`,
      [databaseId, moveId],
    );
    return rows.length > 0;
  }

  /** Records that no rows are left at the shard. */
  async forgetMovedFrom(databaseId: string, shard: string): Promise<void> {
    await this.connections.query(
      `UPDATE ${DIRECTORY} SET moved_from = NULL WHERE ${DATABASE_COLUMN} = $1 AND moved_from = $2`,
      [databaseId, shard],
    );
  }
}

const EXPIRY = `clock_timestamp() + ${FROZEN_MS} * interval '1 ms'`;

export function moveEnded(): RockpoolError {
  return new RockpoolError('database-unavailable', {
    problem: 'another command moves or deletes the database, or an instance ended this move: run the command again',
  });
}
