import { RockpoolError } from '@rockpool/shared';
import type { DatabaseFile } from './database-file.ts';
import type { LogSync } from './log-sync.ts';

/**
 * Where what is decided on a database's file becomes durable: in the file itself, or in a store that other instances
 * share (postgres/). The file decides in both cases, and nobody is told of anything before `commit` is done.
 */
export interface Durability {
  /**
   * What `body` writes into the file lasts when this returns, or resolves. When it throws, or rejects, nothing of it
   * has happened here; all of it may be done again.
   */
  commit<Result>(body: () => Result): Result | Promise<Result>;
  /** Brings the file up to what others have committed. Null: there are no others. */
  catchUp(): Promise<void> | null;
  /**
   * Null: all that the file holds lasts. Else it holds a commit that does not last yet, and nobody is told of what is
   * in the file before this resolves. Rejects with `database-unavailable` where it never will.
   */
  settling(): Promise<void> | null;
  close(): void;
}

export interface OpenDatabase extends Durability {
  readonly file: DatabaseFile;
}

/** The file is what lasts, and SQLite itself waits for the disk at each commit. */
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
 * The file is what lasts, once its log is synced, which happens beside the thread. Of two commits that are under way at
 * the same time the later one lasts only with the earlier. Where the disk fails, nobody knows what is on it: `onLost`
 * is told, once, and nothing is committed any more.
 */
export function durableOnceSynced(
  file: DatabaseFile,
  log: Pick<LogSync, 'sync' | 'close'>,
  onLost: (error: unknown) => void,
): OpenDatabase {
  // SQLite syncs the log only before it moves it into the file.
  file.sql.exec('PRAGMA synchronous = NORMAL');
  let last: Promise<void> | null = null;
  let lost: RockpoolError | null = null;
  const lose = (error: unknown): void => {
    lost = new RockpoolError('database-unavailable', {}, { cause: error });
    last = Promise.reject(lost);
    last.catch(() => undefined); // Whoever asks hears of it; nobody has to ask.
    onLost(error);
  };
  const sync = async (before: Promise<void> | null): Promise<void> => {
    try {
      await log.sync();
    } catch (error) {
      if (lost === null) lose(error);
    }
    // Of several who sync a file at the same time the system tells one of a failure, and the others that all is well.
    await before;
    if (lost !== null) throw lost;
  };
  return {
    file,
    commit: async (body) => {
      if (lost !== null) throw lost;
      const result = transaction(file, body);
      const synced = sync(last);
      last = synced;
      try {
        await synced;
      } finally {
        if (last === synced) last = null;
      }
      return result;
    },
    catchUp: () => null,
    settling: () => last,
    close: () => {
      file.sql.close();
      log.close();
    },
  };
}

function transaction<Result>(file: DatabaseFile, body: () => Result): Result {
  try {
    return file.sql.transaction(body);
  } catch (error) {
    resyncFile(file);
    throw error;
  }
}

/**
 * What is kept in memory of a file, read anew: after a transaction that did not commit, or one that was not made by
 * admission.
 */
export function resyncFile({ logEpoch, log, sites, tombstones }: DatabaseFile): void {
  for (const part of [logEpoch, log, sites, tombstones]) part.reload();
}
