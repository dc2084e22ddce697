import { randomBytes } from 'node:crypto';
import { RockpoolError, type Schema } from '@rockpool/shared';
import type { OpenDatabase } from '../durability.ts';
import type { DatabaseFile } from '../database-file.ts';
import type { StoreEvents } from '../store.ts';
import type { Connection, Connections } from '../../postgres/connection.ts';
import { requireSchema } from './load-copy.ts';
import { NAMESPACE } from '../../postgres/namespace.ts';
import { DATABASE_COLUMN, type MirroredTable } from './mirrored-table.ts';
import { readStoredChanges, type StoredChange } from './stored-change.ts';
import type { CommitPosition, WorkingCopy } from './working-copy.ts';
import { commitStatement } from './write-changes.ts';

export const COMMIT_ID_BYTES = 16;

export interface PostgresDatabaseOptions {
  readonly databaseId: string;
  readonly connections: Connections;
  readonly tables: ReadonlyMap<string, MirroredTable>;
  readonly schema: Schema;
  readonly copy: WorkingCopy;
  readonly events: StoreEvents;
  /** Notifies the other instances, which would otherwise notice the commit at their next poll. */
  readonly announce: (head: number) => void;
  /** Called with the duration of each commit in ms. */
  readonly measure: (durationMs: number) => void;
}

/**
 * One database that several instances share. The steps of a commit:
 *
 *   1  lock its row in rockpool_database: the order is fixed before anything is decided, so nothing is decided twice
 *   2  apply the commits of other instances since then to the working copy
 *   3  run the commit on the working copy, record its changes, and roll it back
 *   4  write the changed rows, the changeset and the next head in the same transaction; COMMIT
 *   5  apply the changes to the working copy, and resolve the commit
 *
 * A crash before COMMIT leaves nothing behind. After a crash later, or a COMMIT without an answer, the next commit or
 * catch-up of any instance finds the commit in step 2; until then no client sees it.
 */
export class PostgresDatabase implements OpenDatabase {
  readonly file: DatabaseFile;
  private readonly options: PostgresDatabaseOptions;
  // The last queued operation: operations on the working copy must not overlap.
  private last: Promise<unknown> = Promise.resolve();
  private nextCatchUp: Promise<void> | null = null;
  private closed = false;

  constructor(options: PostgresDatabaseOptions) {
    this.options = options;
    this.file = options.copy.file;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  get head(): number {
    return this.options.copy.position.head;
  }

  commit<Result>(body: () => Result): Promise<Result> {
    return this.enqueue(() => this.commitNow(body));
  }

  /** Calls share a catch-up that has not started yet: many sessions that reconnect at once wait for one query. */
  catchUp(): Promise<void> {
    this.nextCatchUp ??= this.enqueue(() => {
      this.nextCatchUp = null;
      return this.catchUpNow();
    });
    return this.nextCatchUp;
  }

  /** The file only holds what PostgreSQL has committed. */
  settling(): null {
    return null;
  }

  close(): void {
    this.closed = true;
    this.file.sql.close();
  }

  private enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.last.then(() => {
      if (this.closed) throw new RockpoolError('database-unavailable', { problem: 'the database is closed here' });
      return work();
    });
    this.last = done.catch(() => undefined);
    return done;
  }

  private catchUpNow(): Promise<void> {
    return this.options.connections.transaction(
      this.options.databaseId,
      'REPEATABLE READ, READ ONLY',
      async (connection) => {
        await this.follow(connection, await this.storedPosition(connection, ''));
        return { commit: false, result: undefined };
      },
    );
  }

  private async commitNow<Result>(body: () => Result): Promise<Result> {
    const { databaseId, connections, tables, copy, announce, measure } = this.options;
    const startedMs = performance.now();
    const { result, changeset, position } = await connections.transaction(
      databaseId,
      'READ WRITE',
      async (connection) => {
        await this.follow(connection, await this.storedPosition(connection, 'FOR UPDATE'));
        const rehearsed = copy.rehearse(body);
        const next = { head: this.head + 1, commitId: randomBytes(COMMIT_ID_BYTES) };
        const isChange = rehearsed.changeset.length > 0;
        if (isChange)
          await writeCommit(
            connection,
            databaseId,
            tables,
            next,
            rehearsed.changeset,
            readStoredChanges(rehearsed.changeset),
          );
        return { commit: isChange, result: { ...rehearsed, position: next } };
      },
    );
    if (changeset.length === 0) return result;
    measure(performance.now() - startedMs);
    this.orGiveUp(() => copy.apply(changeset, position));
    announce(position.head);
    return result;
  }

  private async storedPosition(connection: Connection, lock: 'FOR UPDATE' | ''): Promise<CommitPosition> {
    const [[head, commitId, schemaHash] = []] = await connection.query(
      `SELECT head, commit_id, (SELECT schema_hash FROM ${NAMESPACE}.rockpool_store) FROM ${NAMESPACE}.rockpool_database WHERE id = $1 ${lock}`,
      [this.options.databaseId],
    );
    if (head === undefined) this.giveUp(new Error('the database was deleted'));
    requireSchema(schemaHash, this.options.schema);
    return { head: Number(head), commitId: commitId as Uint8Array };
  }

  /** Applies the commits of other instances. */
  private async follow(connection: Connection, to: CommitPosition): Promise<void> {
    const { copy, databaseId, events } = this.options;
    const from = copy.position;
    if (to.head === from.head && isSameCommit(to, from)) return;
    const rows = await connection.query(
      `SELECT head, commit_id, changeset FROM ${NAMESPACE}.rockpool_commit WHERE ${DATABASE_COLUMN} = $1 AND head >= $2 ORDER BY head`,
      [databaseId, from.head],
    );
    const commits = rows.map(([head, commitId, changeset]) => ({
      head: Number(head),
      commitId: commitId as Uint8Array,
      changeset: changeset as Uint8Array,
    }));
    const [own, ...others] = commits;
    // Too far behind, or the store was restored to an older state and has diverged since.
    if (
      own === undefined ||
      own.head !== from.head ||
      !isSameCommit(own, from) ||
      others.length !== to.head - from.head
    )
      this.giveUp(new Error('the working copy cannot follow'));
    this.orGiveUp(() => {
      for (const { changeset, ...position } of others) copy.apply(changeset, position);
    });
    events.onCaughtUp();
  }

  private orGiveUp(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.giveUp(error);
    }
  }

  /** Gives up the working copy. */
  private giveUp(error: unknown): never {
    this.closed = true;
    // Deferred, because a caller may be using the copy.
    setImmediate(() => this.options.events.onLost(error));
    throw new RockpoolError('database-unavailable', { problem: 'the working copy is being rebuilt' }, { cause: error });
  }
}

/**
 * Writes the rows of a commit and advances the head. Call inside the transaction that has locked the row of the
 * database.
 */
export async function writeCommit(
  connection: Connection,
  databaseId: string,
  tables: ReadonlyMap<string, MirroredTable>,
  position: CommitPosition,
  changeset: Uint8Array,
  changes: readonly StoredChange[],
): Promise<void> {
  const { sql, parameters, rowCount } = commitStatement(databaseId, tables, position, changeset, changes);
  const [[changed] = []] = await connection.query(sql, parameters);
  if (Number(changed) !== rowCount)
    throw new RockpoolError('storage-corrupt', {
      problem: 'the rows in PostgreSQL differ from the working copy',
      expected: rowCount,
      changed: Number(changed),
    });
}

function isSameCommit(a: CommitPosition, b: CommitPosition): boolean {
  return Buffer.compare(a.commitId, b.commitId) === 0;
}
