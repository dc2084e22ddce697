import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import { isChangelogCodeLoaded, loadChangelogCode } from '../changelog/load-changelog-code.ts';
import { ReadInterrupted } from '../leader/opened-database.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { QueryResult, Reads } from '../../rpc/reads.ts';
import type { RejectedChangeset } from '../../rpc/rejected-changeset.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { OpenDatabase } from './open-database.ts';
import { isSnapshotLost, retryLostSnapshot } from './lost-snapshot.ts';

export interface LocalReadsOptions {
  /** See `Reads.backup`. */
  readonly backup: () => Promise<Blob>;
  /**
   * Set if commits are stored asynchronously and may still be undone. Each result then waits until the commits that it
   * shows are stored, and is read again if that fails.
   */
  readonly storedBehind?: StoredBehind | undefined;
  /**
   * Reruns, from the beginning, each query that did not finish within `firstSliceMs`. Default: every query runs to its
   * end at once.
   */
  readonly slow?: SlowQueries;
}

export interface SlowQueries {
  query(statement: SqlStatement): Promise<EncodedRows>;
  readonly firstSliceMs: number;
}

export interface StoredBehind {
  /** See `OpenedDatabase.committed`. */
  committed(): Promise<void>;
  /** How many times commits have been undone. */
  timesUndone(): number;
}

type ReadableDatabase = Pick<
  OpenDatabase,
  | 'query'
  | 'queryAll'
  | 'startQuery'
  | 'dependencies'
  | 'rowSyncState'
  | 'writeStates'
  | 'countRejected'
  | 'listRejected'
  | 'listWaiting'
>;

/** Reads from a database of this worker. */
export function localReads(database: ReadableDatabase, { backup, storedBehind, slow }: LocalReadsOptions): Reads {
  const firstSliceMs = slow?.firstSliceMs ?? Number.POSITIVE_INFINITY;

  /** Reads immediately, by calling `run`. */
  function read<T>(run: () => T): Promise<T> {
    return whenStored(() => retryLostSnapshot(run));
  }

  /** Like `read`, with code that is loaded when the database opens, but for which opening does not wait. */
  function readWithCode<T>(run: () => T): Promise<T> {
    return isChangelogCodeLoaded() ? read(run) : loadChangelogCode().then(() => read(run));
  }

  async function whenStored<T>(run: () => T | Promise<T>): Promise<T> {
    if (storedBehind === undefined) return run();
    for (;;) {
      const before = storedBehind.timesUndone();
      const result = await run();
      await storedBehind.committed().catch(() => undefined); // The author of the write receives this error.
      if (storedBehind.timesUndone() === before) return result;
    }
  }

  function query(statement: SqlStatement): EncodedRows | Promise<EncodedRows> {
    return retryLostSnapshot(() => firstSlice(statement)) ?? (slow as SlowQueries).query(statement);
  }

  /** Returns null if one slice is not enough. */
  function firstSlice(statement: SqlStatement): EncodedRows | null {
    const run = database.startQuery(statement);
    try {
      return run.advance(firstSliceMs);
    } finally {
      run.end();
    }
  }

  function queryAll(statements: readonly SqlStatement[]): Promise<QueryResult[]> {
    const results = retryLostSnapshot(
      () => database.queryAll(statements, firstSliceMs),
      (given) => given.some(isSnapshotLostResult),
    );
    return Promise.all(results.map(async (result, index) => result ?? querySlowly(statements[index] as SqlStatement)));
  }

  async function querySlowly(statement: SqlStatement): Promise<QueryResult> {
    const startedMs = performance.now();
    try {
      const rows = await (slow as SlowQueries).query(statement);
      return { rows, tookMs: performance.now() - startedMs };
    } catch (thrown) {
      if (thrown instanceof ReadInterrupted) throw thrown; // The caller repeats all of its queries.
      return { error: toRockpoolError(thrown).toData() };
    }
  }

  return {
    query: (statement) => whenStored(() => query(statement)),
    queryAll: (statements) => whenStored(() => queryAll(statements)),
    dependencies: (statement) => read(() => database.dependencies(statement)),
    rowSyncState: (tableName, key) => readWithCode(() => database.rowSyncState(tableName, key)),
    writeStates: (requestIds) => read(() => database.writeStates(requestIds)),
    listRejected: () => listRejected(database, read),
    listWaiting: (limit) => readWithCode(() => database.listWaiting(limit)),
    backup: () => whenStored(backup),
  };
}

/** An empty list needs no code, which may be out of reach. */
async function listRejected(
  database: ReadableDatabase,
  read: <T>(run: () => T) => Promise<T>,
): Promise<RejectedChangeset[]> {
  if (!isChangelogCodeLoaded()) {
    if ((await read(() => database.countRejected())) === 0) return [];
    await loadChangelogCode();
  }
  return read(() => database.listRejected());
}

function isSnapshotLostResult(result: QueryResult | null): boolean {
  return result !== null && 'error' in result && isSnapshotLost(RockpoolError.fromData(result.error));
}
