import { RockpoolError } from '@rockpool/shared';
import type { DatabaseFile } from './database-file.ts';
import type { LogSync } from './log-sync.ts';

/**
 * How commits to a database file become durable: in the file itself, or in a store that other instances share
 * (postgres/). Admission decides on the file in both cases. No outcome or delivery is sent before `commit` is done.
 */
export interface Durability {
  /**
   * Runs `body` in a transaction; its writes are durable once this returns or resolves. If it throws or rejects, the
   * file is unchanged and the caller may retry. `whileSyncing` runs when the file has the writes and another thread
   * waits for the disk: it may read the file, but nothing that it read may be sent yet. It must not throw.
   * `traceparent` is that of a traced push in this commit, for other instances.
   */
  commit<Result>(
    body: () => Result,
    whileSyncing?: (result: Result) => void,
    traceparent?: string,
  ): Result | Promise<Result>;
  /** Applies what other instances have committed. Null if there are no other instances. */
  catchUp(): Promise<void> | null;
  /**
   * Null if everything in the file is durable. Otherwise the file holds a commit that is not durable yet, and its
   * content must not be sent before this resolves. Rejects with `database-unavailable` if that commit failed.
   */
  settling(): Promise<void> | null;
  /** Makes commits that wait for another instance fail with `database-unavailable`. Call it before `close`. */
  stopWaiting?(): void;
  close(): void;
}

export interface OpenDatabase extends Durability {
  readonly file: DatabaseFile;
}

/** The file is the durable store, and SQLite waits for the disk at each commit. */
export function durableInFile(file: DatabaseFile): OpenDatabase {
  return {
    file,
    commit: (body) => transaction(file, body),
    catchUp: () => null,
    settling: () => null,
    close: () => file.sql.close(),
  };
}

/**
 * The file is the durable store, and a commit is durable once the write-ahead log is synced, which happens off the main
 * thread. Of two commits in flight, the later is durable only together with the earlier. After a disk failure the
 * content of the disk is unknown: `onLost` is called once, and every later commit is rejected. The log that a killed
 * server left behind may hold commits that are not durable (`isSynced` is false): it is synced at once, and counts as a
 * commit in flight until then.
 *
 * A long log is moved into the file after its last commit has resolved. If the log is damaged, the next commit throws
 * `database-damaged`.
 */
export function durableOnceSynced(
  file: DatabaseFile,
  log: Pick<LogSync, 'sync' | 'close'>,
  onLost: (error: unknown) => void,
  { isSynced = true }: { readonly isSynced?: boolean } = {},
): OpenDatabase {
  // NORMAL: SQLite syncs the log only at WAL checkpoints.
  file.sql.exec('PRAGMA synchronous = NORMAL');
  file.sql.checkpointsWithCommits = false;
  let last: Promise<void> | null = null;
  let failure: RockpoolError | null = null;
  let damage: unknown = null;
  let checkpointing: NodeJS.Immediate | null = null;
  const fail = (error: unknown): void => {
    failure = new RockpoolError('database-unavailable', {}, { cause: error });
    last = Promise.reject(failure);
    last.catch(() => undefined); // Callers of `settling` get the rejection, but there may be no caller.
    onLost(error);
  };
  const sync = async (before: Promise<void> | null): Promise<void> => {
    try {
      await log.sync();
    } catch (error) {
      if (failure === null) fail(error);
    }
    // If several callers sync a file at once, the system reports a failure to one of them and success to the others.
    await before;
    if (failure !== null) throw failure;
  };
  const beginSync = (): Promise<void> => {
    const synced = sync(last).finally(() => {
      if (last === synced) last = null;
    });
    last = synced;
    return synced;
  };
  // Runs after the log is synced, in a later task, so that outcomes and deliveries of the commit are sent first.
  const checkpointSoon = (): void => {
    checkpointing ??= setImmediate(() => {
      checkpointing = null;
      try {
        file.sql.checkpointIfLong();
      } catch (error) {
        damage = error;
      }
    });
  };
  if (!isSynced) beginSync().catch(() => undefined);
  return {
    file,
    commit: async (body, whileSyncing) => {
      if (failure !== null) throw failure;
      if (damage !== null) throw damage;
      const result = transaction(file, body);
      const synced = beginSync();
      whileSyncing?.(result);
      await synced;
      checkpointSoon();
      return result;
    },
    catchUp: () => null,
    settling: () => last,
    close: () => closeBoth(file, log),
  };
}

/** Keeps no descriptor of the log if the file fails, for example because the disk is full. */
function closeBoth(file: DatabaseFile, log: Pick<LogSync, 'close'>): void {
  try {
    file.sql.close();
  } finally {
    log.close();
  }
}

function transaction<Result>(file: DatabaseFile, body: () => Result): Result {
  try {
    return file.sql.transaction(body);
  } catch (error) {
    resyncFile(file);
    throw error;
  }
}

/** Reloads the cached state from the file, after a transaction that rolled back or was not made by admission. */
export function resyncFile({
  logEpoch,
  log,
  sites,
  tombstones,
  oldestConflict,
  anyOrigins,
  history,
  columnBirths,
}: DatabaseFile): void {
  oldestConflict.forget();
  anyOrigins.forget();
  for (const part of [logEpoch, log, sites, tombstones, history, columnBirths]) part.reload();
}
