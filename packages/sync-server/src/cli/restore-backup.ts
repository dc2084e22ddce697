import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { copyDatabase, restoreDatabase } from '../store/copy-database.ts';
import { databaseIds, databasesDirectory, noteCopies, removeDatabaseFiles } from '../store/data-directory.ts';
import { lockDirectory } from '../store/directory-lock.ts';
import { endRestore, readRestore, writeRestore } from '../store/unfinished-restore.ts';
import { syncPath } from '../store/write-durably.ts';
import { differences, entryOf, readDirectories, readManifest } from './backup.ts';
import type { BackupEntry } from './backup-contents.ts';
import { keepOwner } from './keep-owner.ts';
import { throwIfProblems } from './read-values.ts';
import type { Sources } from './settings.ts';

/**
 * `restore DIR`: restores a backup into a data directory without databases. Verifies all files before it writes any.
 * After an interruption no server starts on the directory, and the same command restores all files again.
 */
export async function runRestore(sources: Sources, print: (line: string) => void): Promise<void> {
  const { dataDir, directory } = readDirectories('restore', sources);
  const manifest = readManifest(directory);
  const entries = Object.keys(manifest).map((name) => [name, entryOf(name, dataDir)] as const);
  throwIfProblems(await differences(directory, manifest));
  const steps = restoreSteps(dataDir, directory, entries);
  while (steps.next().done !== true);
  print(`restored ${entries.length} files to ${dataDir}; devices send later changes again`);
}

/** The steps of a restore. The process may be killed at each `yield`. */
export function* restoreSteps(
  dataDir: string,
  directory: string,
  entries: readonly (readonly [name: string, BackupEntry])[],
): Generator<void, void> {
  databasesDirectory(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    const request = { from: `the backup ${resolve(directory)}`, databaseId: null, asked: null };
    if (readRestore(dataDir, request) === null) {
      if (databaseIds(dataDir, { withMissing: true }).length > 0) throwIfProblems([`${dataDir} already has databases`]);
      writeRestore(dataDir, { ...request, atMs: 0, done: [] });
    }
    yield;
    for (const [name, entry] of entries) {
      restoreFile(join(directory, name), entry);
      syncPath(entry.target);
      syncPath(dirname(entry.target));
      yield;
    }
    endRestore(dataDir);
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
  } else if (entry.kind === 'file') copyFileSync(from, entry.target);
  else {
    removeDatabaseFiles(entry.target);
    copyDatabase(from, entry.target);
  }
}
