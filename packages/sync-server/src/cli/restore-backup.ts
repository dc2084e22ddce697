import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { damagedCopies } from '../backup/restore-all.ts';
import { copyDatabase, restoreDatabase } from '../store/copy-database.ts';
import {
  databaseIds,
  databasesDirectory,
  noteCopies,
  removeDatabaseFiles,
  renameReplacedFiles,
} from '../store/data-directory.ts';
import { lockDirectory } from '../store/directory-lock.ts';
import { createMissing } from '../store/file-damage.ts';
import { EMPTY_MEMBERS } from '../store/open-members.ts';
import { endRestore, readRestore, restoringFolder, writeRestore } from '../store/unfinished-restore.ts';
import { syncPath } from '../store/write-durably.ts';
import { DIFFERS, differingFiles, entryOf, readDirectories, readManifest } from './backup.ts';
import type { BackupEntry } from './backup-contents.ts';
import { keepOwner } from './keep-owner.ts';
import { throwIfProblems } from './read-values.ts';
import type { Sources } from './settings.ts';

/**
 * `restore DIR`: restores a backup into a data directory without databases. Verifies all files before it writes any. A
 * damaged file does not stop the restore of the others: it is named at the end, and its database stays offline. After
 * an interruption no server starts on the directory, and the same command restores all files again.
 */
export async function runRestore(sources: Sources, print: (line: string) => void): Promise<void> {
  const { dataDir, directory } = readDirectories('restore', sources);
  const manifest = readManifest(directory);
  const entries = Object.keys(manifest).map((name) => [name, entryOf(name, dataDir)] as const);
  const damaged = await differingFiles(directory, manifest);
  if (!entries.some(([name, { kind }]) => kind === 'database' && !damaged.has(name)))
    throwIfProblems([...damaged].map((name) => `${name} ${DIFFERS}`));
  const steps = restoreSteps(dataDir, directory, entries, { damaged, print });
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  print(`restored ${entries.length - damaged.size} files to ${dataDir}; devices send later changes again`);
  if (step.value.length > 0) throw damagedCopies(step.value);
}

interface Notes {
  /** The names of damaged files. */
  readonly damaged: ReadonlySet<string>;
  readonly print: (line: string) => void;
}

/**
 * The steps of a restore. The process may be killed at each `yield`. Returns a line for each damaged file. Without
 * members the restore stays unfinished, because a server would not know who is revoked.
 */
export function* restoreSteps(
  dataDir: string,
  directory: string,
  entries: readonly (readonly [name: string, BackupEntry])[],
  { damaged, print }: Notes,
): Generator<void, readonly string[]> {
  databasesDirectory(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    const request = { from: `the backup ${resolve(directory)}`, databaseId: null, asked: null };
    let state = readRestore(dataDir, request);
    if (state === null) {
      if (databaseIds(dataDir, { withMissing: true }).length > 0) throwIfProblems([`${dataDir} already has databases`]);
      state = { ...request, atMs: 0, done: [] };
      writeRestore(dataDir, state);
    }
    yield;
    const problems: string[] = [];
    let isComplete = true;
    for (const [name, entry] of entries) {
      const isDamaged = damaged.has(name);
      if (isDamaged) {
        isComplete &&= entry.kind !== 'members' || existsSync(entry.target);
        problems.push(`${name} ${DIFFERS}${leaveOut(entry)}`);
      } else if (!state.done.includes(name)) {
        if (entry.kind === 'members') {
          const kept = restoreMembers(join(directory, name), entry.target, dataDir);
          if (kept !== null) print(`the members that were in the directory are in ${kept}`);
          state = { ...state, done: [name] };
          writeRestore(dataDir, state);
        } else restoreFile(join(directory, name), entry);
        syncPath(entry.target);
      }
      syncPath(dirname(entry.target));
      yield;
    }
    if (isComplete) endRestore(dataDir);
    return problems;
  } finally {
    keepOwner(dataDir);
    lock.release();
  }
}

/** Replaces a file that an interrupted restore has left. */
function restoreFile(from: string, entry: BackupEntry): void {
  mkdirSync(dirname(entry.target), { recursive: true });
  if (entry.kind === 'database') {
    restoreDatabase(from, entry.target, entry.databaseId);
    // A deletion before the next copy has to be recorded, or a restore of the copies would bring the database back.
    noteCopies(entry.target);
  } else copyFileSync(from, entry.target);
}

/**
 * Keeps members that the directory has already, because they may have revocations that the backup lacks. Returns their
 * path, or null.
 */
function restoreMembers(from: string, target: string, dataDir: string): string | null {
  const staged = join(restoringFolder(dataDir), basename(target));
  removeDatabaseFiles(staged);
  copyDatabase(from, staged);
  syncPath(staged); // because the restore does not repeat it after a power loss
  const kept = renameReplacedFiles(target);
  removeDatabaseFiles(target);
  renameSync(staged, target);
  return kept;
}

/** Returns what follows from the loss of a file, and what to do, after a sentence about the file. */
function leaveOut({ kind, target }: BackupEntry): string {
  mkdirSync(dirname(target), { recursive: true });
  if (kind === 'members')
    return existsSync(target)
      ? `; ${target} stays in use as it is now`
      : `; no server starts without it: put that of another backup at ${target} and run the same command again, or create an empty file there first. ${EMPTY_MEMBERS}`;
  const unloaded = /^(.+\.sqlite)-unloaded$/.exec(target)?.[1];
  const database = kind === 'database' ? target : unloaded;
  if (database === undefined) return '';
  // An interrupted restore may have left it, when its file in the backup was still intact.
  removeDatabaseFiles(database);
  createMissing(database);
  noteCopies(database);
  if (unloaded !== undefined)
    return '; its database stays offline until you restore it from the continuous backup (restore --from … --database ID --replace) or delete it';
  return '; its database stays offline until you replace or delete it (databases replace, databases delete)';
}
