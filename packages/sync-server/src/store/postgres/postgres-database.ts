import { randomBytes } from 'node:crypto';
import { RockpoolError } from '@rockpool/shared';
import type { OpenDatabase } from '../durability.ts';
import type { DatabaseFile } from '../database-file.ts';
import type { StoreEvents } from '../store.ts';
import { type Connection, type Connections, isLockTimeout, NAMESPACE } from '../../postgres/connection.ts';
import { SCHEMA_HASH_SQL, SchemaChanged } from './load-copy.ts';
import { DATABASE_COLUMN, type MirroredTable } from './mirrored-table.ts';
import { DatabaseMarked, MARK_COLUMNS, readMark } from './move-mark.ts';
import { IS_LEASED_SQL, releaseLease, takeLease } from './lease.ts';
import { readStoredChanges, type StoredChange } from './stored-change.ts';
import type { CommitPosition, WorkingCopy } from './working-copy.ts';
import { commitStatements } from './write-changes.ts';

export const COMMIT_ID_BYTES = 16;

/**
 * The longest time of a decision that is repeated inside the transaction: far below the timeouts, and fair to other
 * instances.
 */
const SHORT_DECISION_MS = 100;

const LEASE_POLL_MS = 100;
/** The maximum wait of a commit for others, longer than any lease. */
const LEASE_PATIENCE_MS = 130_000;

/** The result of a commit's body, and its changes in the format of SQLite's session extension. */
interface Decision<Result> {
  readonly result: Result;
  readonly changeset: Uint8Array;
  readonly changes: readonly StoredChange[];
}

export interface PostgresDatabaseOptions {
  readonly databaseId: string;
  readonly connections: Connections;
  readonly tables: ReadonlyMap<string, MirroredTable>;
  readonly copy: WorkingCopy;
  readonly events: StoreEvents;
  /** The random id of this process, which holds leases. */
  readonly instanceId: string;
  /** Notifies the other instances, which would otherwise notice the commit at their next poll. */
  readonly announce: (head: number, traceparent: string | undefined) => void;
  /** Called every 10 s while a commit waits for a transaction that holds its lock. */
  readonly onWaiting: () => void;
  /** Called once, when the database is closed. */
  readonly onClosed: () => void;
  /** Called with the duration of each commit in ms. */
  readonly measure: (durationMs: number) => void;
}

/**
 * One database that several instances share. The steps of a commit:
 *
 *   1  run the commit on the working copy, record its changes, and roll it back
 *   2  lock the row of the database in rockpool_database. If another instance has committed since the working copy's
 *      position: follow it, and decide again, at once if that is quick. Otherwise lease the database and begin again
 *   3  write the changed rows, the changeset and the next head in the same transaction; COMMIT
 *   4  apply the changes to the working copy, and resolve the commit
 *
 * Nothing that takes long is decided while a transaction is open: a decision holds the thread, for a large changeset
 * longer than any timeout of a transaction. The position ensures correctness: a decision counts only if it was made on
 * the last commit. The lease ensures progress: without it, quick commits of others would overtake a long decision again
 * and again.
 *
 * A crash before COMMIT leaves nothing behind but a lease, which expires. After a later crash, or a COMMIT without a
 * response, the next commit or catch-up of any instance finds the commit; until then no client sees it.
 */
export class PostgresDatabase implements OpenDatabase {
  readonly file: DatabaseFile;
  private readonly options: PostgresDatabaseOptions;
  private hasLease = false;
  // The duration of the last decision.
  private decisionMs = 0;
  // The last queued operation. Operations on the working copy must not overlap.
  private last: Promise<unknown> = Promise.resolve();
  private nextCatchUp: Promise<void> | null = null;
  private closed = false;
  private isStopping = false;
  /** Whether another instance had the database when this one was stopping, so that later commits would wait too. */
  private isHeld = false;
  /** The last announced commit of another instance with a traced push. */
  private traced: { readonly head: number; readonly traceparent: string } | null = null;

  constructor(options: PostgresDatabaseOptions) {
    this.options = options;
    this.file = options.copy.file;
  }

  get databaseId(): string {
    return this.options.databaseId;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  get position(): CommitPosition {
    return this.options.copy.position;
  }

  commit<Result>(body: () => Result, _whileSyncing?: unknown, traceparent?: string): Promise<Result> {
    return this.enqueue(() => this.commitNow(body, traceparent));
  }

  /** Another instance has announced a commit with a traced push. `catchUp` follows. */
  announced(head: number, traceparent: string): void {
    this.traced = { head, traceparent };
  }

  /** Calls share a catch-up that has not started yet: many sessions that reconnect at once wait for one query. */
  catchUp(): Promise<void> {
    this.nextCatchUp ??= this.enqueue(() => {
      this.nextCatchUp = null;
      return this.catchUpNow();
    });
    return this.nextCatchUp;
  }

  stopWaiting(): void {
    this.isStopping = true;
  }

  /** The file contains only what PostgreSQL has committed. */
  settling(): null {
    return null;
  }

  close(): void {
    this.closed = true;
    this.options.onClosed();
    this.file.sql.close();
  }

  private enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.last.then(() => {
      if (this.closed) throw closedHere();
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

  private async commitNow<Result>(body: () => Result, traceparent: string | undefined): Promise<Result> {
    if (this.isHeld) throw heldElsewhere(this.isStopping);
    const startedMs = performance.now();
    let decidedMs = 0;
    const decide = (): Decision<Result> => {
      const decision = this.decide(body);
      decidedMs += this.decisionMs;
      return decision;
    };
    for (;;) {
      const attempt = await this.write(decide(), decide, traceparent);
      if (attempt === 'leased') await this.waitForLease(startedMs + decidedMs);
      if (typeof attempt === 'string') continue;
      if (attempt.changeset.length > 0) this.options.measure(performance.now() - startedMs);
      return attempt.result;
    }
  }

  private decide<Result>(body: () => Result): Decision<Result> {
    const startedMs = performance.now();
    const { result, changeset } = this.options.copy.rehearse(body);
    this.decisionMs = performance.now() - startedMs;
    return { result, changeset, changes: readStoredChanges(changeset) };
  }

  /**
   * Commits a decision and returns it, if it was made on the last commit or is short enough to be made again at once.
   * Returns `leased` if another instance holds the lease or the lock, and otherwise `stale`: this instance has followed
   * the others and taken the lease, so that no other commit overtakes the next attempt.
   */
  private async write<Result>(
    made: Decision<Result>,
    decideAgain: () => Decision<Result>,
    traceparent: string | undefined,
  ): Promise<Decision<Result> | 'stale' | 'leased'> {
    const { databaseId, connections, tables, copy, announce } = this.options;
    let position = copy.position;
    type Attempt = Decision<Result> | 'stale' | 'leased';
    const attempt = await this.unlessLocked(
      connections.transaction<Attempt>(databaseId, 'READ WRITE', async (connection) => {
        const stored = await this.storedPosition(connection, 'FOR UPDATE');
        if (stored.isLeased) return { commit: false, result: 'leased' };
        let decision = made;
        if (!isSamePosition(stored, copy.position)) {
          if (this.decisionMs > SHORT_DECISION_MS) return this.followWithLease(connection, stored);
          await this.follow(connection, stored);
          decision = decideAgain();
        }
        const { changeset, changes } = decision;
        position = { head: copy.position.head + 1, commitId: randomBytes(COMMIT_ID_BYTES) };
        if (changes.length > 0) await writeCommit(connection, databaseId, tables, position, changeset, changes);
        if (this.hasLease) await releaseLease(connection, databaseId);
        return { commit: changes.length > 0 || this.hasLease, result: decision };
      }),
    );
    if (attempt === null) return 'leased';
    if (typeof attempt === 'string') return attempt;
    this.hasLease = false;
    if (attempt.changes.length > 0) {
      this.orGiveUp(() => copy.apply(attempt.changeset, position));
      announce(position.head, traceparent);
    }
    return attempt;
  }

  private async followWithLease(
    connection: Connection,
    stored: CommitPosition,
  ): Promise<{ readonly commit: true; readonly result: 'stale' }> {
    const { databaseId, instanceId } = this.options;
    await this.follow(connection, stored);
    await takeLease(connection, databaseId, instanceId, this.decisionMs);
    this.hasLease = true;
    return { commit: true, result: 'stale' };
  }

  /**
   * Resolves once this instance has the lease. `sinceMs` is when the commit began, plus the time that its own
   * decisions took, which does not count as waiting.
   * Throws `database-unavailable` if another instance keeps the lease or the lock for too long, or at once if this one
   * stops.
   */
  private async waitForLease(sinceMs: number): Promise<void> {
    const { databaseId, connections } = this.options;
    for (;;) {
      this.isHeld = this.isStopping;
      if (this.isStopping || performance.now() - sinceMs > LEASE_PATIENCE_MS) throw heldElsewhere(this.isStopping);
      await new Promise((resolve) => setTimeout(resolve, LEASE_POLL_MS * (0.5 + Math.random())));
      const attempt = await this.unlessLocked(
        connections.transaction(databaseId, 'READ WRITE', async (connection) => {
          const stored = await this.storedPosition(connection, 'FOR UPDATE');
          return stored.isLeased ? { commit: false, result: null } : this.followWithLease(connection, stored);
        }),
      );
      if (attempt !== null) return;
    }
  }

  /**
   * Null if another transaction holds a lock for longer than a statement may wait. It is a long commit that progresses:
   * PostgreSQL ends a transaction whose instance sends nothing.
   */
  private async unlessLocked<Result>(result: Promise<Result>): Promise<Result | null> {
    try {
      return await result;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.options.onWaiting();
      return null;
    }
  }

  private async storedPosition(
    connection: Connection,
    lock: 'FOR UPDATE' | '',
  ): Promise<CommitPosition & { readonly isLeased: boolean }> {
    const { databaseId, instanceId } = this.options;
    const [[head, commitId, schemaHash, isLeased, moveId, role] = []] = await connection.query(
      `SELECT head, commit_id, ${SCHEMA_HASH_SQL}, ${IS_LEASED_SQL}, ${MARK_COLUMNS} FROM ${NAMESPACE}.rockpool_database WHERE id = $1 ${lock}`,
      [databaseId, instanceId],
    );
    if (head === undefined) this.giveUp(new Error('the database was deleted'));
    const mark = readMark(moveId, role);
    if (mark !== null) this.giveUp(new DatabaseMarked(mark));
    if (schemaHash !== this.file.schema.hash) this.giveUp(new SchemaChanged());
    return { head: Number(head), commitId: commitId as Uint8Array, isLeased: isLeased === true };
  }

  /** Applies the commits of other instances. */
  private async follow(connection: Connection, to: CommitPosition): Promise<void> {
    const { copy, databaseId, events } = this.options;
    const from = copy.position;
    if (isSamePosition(to, from)) return;
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
    // Gives up if the copy is too far behind, or if the store was restored to an older state and has diverged since.
    if (
      own === undefined ||
      own.head !== from.head ||
      !isSameCommit(own, from) ||
      others.length !== to.head - from.head
    )
      this.giveUp(new Error('the working copy cannot catch up'));
    const { watermark } = this.file.log;
    this.orGiveUp(() => {
      for (const { changeset, ...position } of others) copy.apply(changeset, position);
    });
    const { traced } = this;
    const isAmongThem = traced !== null && traced.head > from.head && traced.head <= to.head;
    if (traced !== null && traced.head <= to.head) this.traced = null;
    events.onCaughtUp(watermark, isAmongThem ? traced.traceparent : undefined);
  }

  private orGiveUp(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.giveUp(error);
    }
  }

  /** Gives up the working copy. One that was closed meanwhile, for example by an operator, has not failed. */
  private giveUp(error: unknown): never {
    if (this.closed) throw closedHere();
    this.closed = true;
    // Deferred, because a caller may be using the copy.
    setImmediate(() => this.options.events.onLost(error));
    if (error instanceof DatabaseMarked) throw error;
    throw new RockpoolError('database-unavailable', { problem: 'the working copy is being rebuilt' }, { cause: error });
  }
}

function closedHere(): RockpoolError {
  return new RockpoolError('database-unavailable', { problem: 'this instance has closed the database' });
}

function heldElsewhere(isStopping: boolean): RockpoolError {
  const problem = `another instance holds the database${isStopping ? ', and this one stops' : ''}`;
  return new RockpoolError('database-unavailable', { problem });
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
  for (const { sql, parameters, rowCount } of commitStatements(databaseId, tables, position, changeset, changes)) {
    const [[changed] = []] = await connection.query(sql, parameters);
    if (Number(changed) !== rowCount)
      throw new RockpoolError('storage-corrupt', {
        problem: 'the rows in PostgreSQL differ from the working copy',
        expected: rowCount,
        changed: Number(changed),
      });
  }
}

export function isSamePosition(a: CommitPosition, b: CommitPosition): boolean {
  return a.head === b.head && isSameCommit(a, b);
}

function isSameCommit(a: CommitPosition, b: CommitPosition): boolean {
  return Buffer.compare(a.commitId, b.commitId) === 0;
}
