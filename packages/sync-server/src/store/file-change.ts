import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { sumsPath } from '../sqlite/page-sums.ts';
import {
  databaseIdOfFile,
  databasePath,
  databasesDirectory,
  forgetCopies,
  mayHaveCopies,
  removeDatabaseFiles,
  removeFetchedFiles,
  renameReplacedFiles,
} from './data-directory.ts';
import { markPath } from './file-damage.ts';
import { unloadedPath, type UnloadedMark } from './unloaded-mark.ts';
import { syncPath, writeDurably } from './write-durably.ts';

/*
 * A database is several files, so deleting or installing one takes several steps. The change is recorded first:
 *
 *   1. the new file is complete in `incoming/`, with its checksums
 *   2. `db-<id>.sqlite-changing` names the change       a server killed before this point has changed nothing
 *   3. files are removed and renamed
 *   4. `db-<id>.sqlite-changing` is removed             a server killed before this point finishes it at its next start
 *
 * Every step can be repeated.
 */

/** A change of the files of one database. */
export type FileChange =
  | {
      readonly kind: 'delete';
      /** When, in ms since 1970. An earlier version of the server did not record it. */
      readonly deletedMs?: number;
    }
  /** `staged` is the name of a file in `incoming/`. The old file is kept beside the new one (renameReplacedFiles). */
  | {
      readonly kind: 'install';
      readonly staged: string;
      /** Whether the file is identical to the continuous backup. Otherwise it is copied as a whole. */
      readonly isCopied?: boolean;
    }
  /** The continuous backup has the database, and the mark replaces the file. */
  | { readonly kind: 'unload'; readonly mark: UnloadedMark };

const CHANGING = '-changing';

/**
 * Holds the time of a deletion, ms since 1970, until the continuous backup has recorded it (backup/server-copies.ts).
 */
export const FORGOTTEN = '-forgotten';

/** Returns the path for a database that is being received or written, in a folder that each start empties. */
export function incomingPath(dataDir: string): string {
  const directory = join(dataDir, 'incoming');
  mkdirSync(directory, { recursive: true });
  return join(directory, `${randomUUID()}.sqlite`);
}

/** Records a change, so that it is completed even if the server is killed. Call `finishFileChange` next. */
export function beginFileChange(dataDir: string, databaseId: string, change: FileChange): void {
  writeDurably(databasePath(dataDir, databaseId) + CHANGING, JSON.stringify(change));
}

/**
 * Makes the change that `beginFileChange` recorded. No server may have the database open. `forget` deletes what is
 * stored about a deleted database elsewhere. Returns the path of the old file, or null if there is none. Does nothing
 * if no change is recorded.
 */
export function finishFileChange(
  dataDir: string,
  databaseId: string,
  forget: (databaseId: string) => void,
): string | null {
  const steps = fileChangeSteps(dataDir, databaseId, forget);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The steps of `finishFileChange`. A server may be killed at each `yield`. */
export function* fileChangeSteps(
  dataDir: string,
  databaseId: string,
  forget: (databaseId: string) => void,
): Generator<void, string | null> {
  const path = databasePath(dataDir, databaseId);
  if (!isFileChanging(path)) return null;
  const change = JSON.parse(readFileSync(path + CHANGING, 'utf8')) as FileChange;
  yield;
  let kept: string | null = null;
  if (change.kind === 'install') kept = yield* install(join(dataDir, 'incoming', change.staged), path, change);
  else if (change.kind === 'unload') yield* unload(path, change.mark);
  else {
    rememberDeletion(path, change.deletedMs);
    removeDatabaseFiles(path);
    yield;
    forget(databaseId);
  }
  yield;
  if (change.kind !== 'unload') removeFetchedFiles(dataDir, databaseId);
  syncPath(dirname(path));
  rmSync(path + CHANGING, { force: true });
  return kept;
}

/** Whether a recorded change of a database file is unfinished, so that the file must not be opened. */
export function isFileChanging(path: string): boolean {
  return existsSync(path + CHANGING);
}

/** Finishes the changes that were interrupted when a server was killed, and removes files that it was receiving. */
export function finishFileChanges(dataDir: string, forget: (databaseId: string) => void): void {
  for (const name of readdirSync(databasesDirectory(dataDir))) {
    const databaseId = name.endsWith(CHANGING) ? databaseIdOfFile(name.slice(0, -CHANGING.length)) : null;
    if (databaseId !== null) finishFileChange(dataDir, databaseId, forget);
    if (name.endsWith(`${CHANGING}.new`)) rmSync(join(databasesDirectory(dataDir), name), { force: true });
  }
  rmSync(join(dataDir, 'incoming'), { recursive: true, force: true });
}

/** If the staged file is missing, the database was installed before the server was killed. */
function* install(
  staged: string,
  path: string,
  { isCopied = false }: { readonly isCopied?: boolean },
): Generator<void, string | null> {
  let kept: string | null = null;
  if (existsSync(staged)) {
    kept = renameReplacedFiles(path);
    yield;
    for (const old of ['-wal', '-shm']) rmSync(path + old, { force: true });
    // With the checksums of the old file, the new one would count as damaged.
    for (const old of [markPath(path), sumsPath(path)]) rmSync(old, { force: true });
    yield;
    renameSync(staged, path);
    yield;
  }
  if (existsSync(sumsPath(staged))) renameSync(sumsPath(staged), sumsPath(path));
  if (!isCopied) forgetCopies(path);
  rmSync(unloadedPath(path), { force: true });
  return kept;
}

/** Keeps the record of the copies, which continue once the file is fetched. */
function* unload(path: string, mark: UnloadedMark): Generator<void> {
  writeDurably(unloadedPath(path), JSON.stringify(mark));
  yield;
  rmSync(path, { force: true });
  yield;
  for (const suffix of ['-wal', '-shm', '-sums']) rmSync(path + suffix, { force: true });
}

/** Does nothing for a database that was never copied, because it has no deletion to record. */
function rememberDeletion(path: string, deletedMs: number = Date.now()): void {
  if (mayHaveCopies(path)) writeDurably(path + FORGOTTEN, String(deletedMs));
}
