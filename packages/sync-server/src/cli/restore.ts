import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { isDatabaseId } from '../auth/gate.ts';
import { openDestination, placeProblems } from '../backup/open-destination.ts';
import { damagedCopies, restoreAll } from '../backup/restore-all.ts';
import { lockDirectory } from '../store/directory-lock.ts';
import { finishFileChanges } from '../store/file-change.ts';
import { restoringFolder } from '../store/unfinished-restore.ts';
import { openMembers } from '../store/open-members.ts';
import { RESTORE_SETTINGS } from './config.ts';
import { keepOwner } from './keep-owner.ts';
import { readBackupPlace, readDatabasesPlace, readTime, throwIfProblems } from './read-values.ts';
import { runRestore } from './restore-backup.ts';
import { readSettings, type Sources } from './settings.ts';

/**
 * `restore DIR` restores a backup that `backup` made (restore-backup.ts); `restore --from PLACE` restores databases
 * from a continuous backup, as of `--at`.
 */
export async function runRestoreCommand(sources: Sources, print: (line: string) => void): Promise<void> {
  const problems: string[] = [];
  const given = readSettings(RESTORE_SETTINGS, sources, problems);
  throwIfProblems(problems);
  if (given.text('from') === '') return runRestore(sources, print);
  const { postgres, dataDir } = readDatabasesPlace(given, problems);
  const place = readBackupPlace(given, given.text('from'));
  problems.push(...placeProblems(place, sources.environment));
  const databaseId = given.text('database');
  if (databaseId !== '' && !isDatabaseId(databaseId))
    problems.push('--database takes up to 64 letters, digits, _ and -');
  const atMs = readTime('at', given.text('at'), problems);
  if (postgres !== null) problems.push('restore --from restores into files: PostgreSQL has its own backups');
  for (const extra of given.positionals) problems.push(`unknown argument ${extra}`);
  throwIfProblems(problems);
  const isNew = !existsSync(dataDir);
  mkdirSync(dataDir, { recursive: true });
  let restored = false;
  const lock = lockDirectory(dataDir);
  try {
    finishFileChanges(dataDir, (id) => forgetMembers(dataDir, id));
    const destination = openDestination(place, sources.environment);
    const { databases, problems: lost } = await restoreAll({
      ...{ destination, dataDir, atMs, print },
      databaseId: databaseId === '' ? null : databaseId,
      replaces: given.has('replace'),
    });
    restored = true;
    print(`restored ${databases} databases to ${dataDir}; devices send later changes again`);
    if (lost.length > 0) throw damagedCopies(lost);
  } finally {
    keepOwner(dataDir);
    lock.release();
    // No database was found, so nothing is left for the same command to continue.
    if (isNew && !restored && !existsSync(restoringFolder(dataDir))) rmSync(dataDir, { recursive: true, force: true });
  }
}

function forgetMembers(dataDir: string, databaseId: string): void {
  const members = openMembers(dataDir);
  members.forgetDatabase(databaseId);
  members.close();
}
