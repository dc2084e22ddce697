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
  /** Tells the other instances, which would find out by themselves later. */
  readonly announce: (head: number) => void;
  /** A commit took this long, ms. */
  readonly measure: (durationMs: number) => void;
}

/**
 * One database of several instances. To commit:
 *
 *   1  lock its line in rockpool_database: the order is taken before anything is decided, so nothing is decided twice
 *   2  apply what others have committed since to the working copy
 *   3  decide on the working copy, see what that changes, and undo it
 *   4  write those rows, the changeset and the next head in the same transaction; COMMIT
 *   5  apply them to the working copy, and tell whoever waits
 *
 * A crash before COMMIT leaves nothing. One after it, or a COMMIT of which nobody has heard, is found in step 2 by
 * whoever comes next; until then nobody is told of it.
 */
export class PostgresDatabase implements OpenDatabase {
  readonly file: DatabaseFile;
  private readonly options: PostgresDatabaseOptions;
  // One at a time: what the working copy is asked and told must not overlap.
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
    return this.inTurn(() => this.commitNow(body));
  }

  /** One that has not begun serves all who ask meanwhile: many sessions that come back at once wait for one look. */
  catchUp(): Promise<void> {
    this.nextCatchUp ??= this.inTurn(() => {
      this.nextCatchUp = null;
      return this.catchUpNow();
    });
    return this.nextCatchUp;
  }

  /** What is not in PostgreSQL is not in the file. */
  settling(): null {
    return null;
  }

  close(): void {
    this.closed = true;
    this.file.sql.close();
  }

  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
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
    this.orLost(() => copy.apply(changeset, position));
    announce(position.head);
    return result;
  }

  private async storedPosition(connection: Connection, lock: 'FOR UPDATE' | ''): Promise<CommitPosition> {
    const [[head, commitId, schemaHash] = []] = await connection.query(
      `SELECT head, commit_id, (SELECT schema_hash FROM ${NAMESPACE}.rockpool_store) FROM ${NAMESPACE}.rockpool_database WHERE id = $1 ${lock}`,
      [this.options.databaseId],
    );
    if (head === undefined) this.lose(new Error('the database was deleted'));
    requireSchema(schemaHash, this.options.schema);
    return { head: Number(head), commitId: commitId as Uint8Array };
  }

  /** Applies what others have committed. */
  private async follow(connection: Connection, to: CommitPosition): Promise<void> {
    const { copy, databaseId, events } = this.options;
    const from = copy.position;
    if (to.head === from.head && isSame(to, from)) return;
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
    // Too far behind; or this store was put back to an older state, and has gone on in another way.
    if (own === undefined || own.head !== from.head || !isSame(own, from) || others.length !== to.head - from.head)
      this.lose(new Error('the working copy cannot follow'));
    this.orLost(() => {
      for (const { changeset, ...position } of others) copy.apply(changeset, position);
    });
    events.onFollowed();
  }

  private orLost(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.lose(error);
    }
  }

  /** The working copy is of no use any more. */
  private lose(error: unknown): never {
    this.closed = true;
    // Not while somebody is in the middle of something with it.
    setImmediate(() => this.options.events.onLost(error));
    throw new RockpoolError('database-unavailable', { problem: 'the working copy is made anew' }, { cause: error });
  }
}

/** Writes a commit's rows, and moves the head. Inside the transaction that has locked the database's line. */
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
      problem: 'PostgreSQL does not hold the rows that were decided on',
      expected: rowCount,
      changed: Number(changed),
    });
}

function isSame(a: CommitPosition, b: CommitPosition): boolean {
  return Buffer.compare(a.commitId, b.commitId) === 0;
}
