import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { syncPath } from './write-durably.ts';

/*
 * The files in a server's data directory:
 *
 *   databases/db-<id>.sqlite   one file per database; beside it -wal and -shm (SQLite's log), -sums (page-sums.ts),
 *                              -damaged (file-damage.ts), -copied and -copied.new (backup/copy-record.ts), -changing
 *                              and -forgotten (file-change.ts), and -unloaded (unloaded-mark.ts) in place of the file
 *   members.sqlite             roles that the server stores, which override tokens; .replaced-<n>, kept by a restore
 *   schemas/<hash>.json        schemas that the server has run with (known-schemas.ts)
 *   restoring/                 what a restore has fetched; no server starts while it is there (unfinished-restore.ts)
 *   incoming/, fetching/       files that are not complete yet
 *   snapshots/                 files for first syncs, and past states
 *   server.lock                held by the one process that runs here
 *
 * cli/backup-contents.ts says which of them a backup contains.
 */

/**
 * Throws `storage-missing` if no server has used the directory, because a command with a wrong path must not succeed
 * without doing anything.
 */
export function requireDataDirectory(dataDir: string): void {
  if (!isDataDirectory(dataDir))
    throw new RockpoolError('storage-missing', { problem: `no server has used ${dataDir} as its data directory` });
}

/** Whether a server or a command has used the directory. */
export function isDataDirectory(dataDir: string): boolean {
  return existsSync(join(dataDir, 'databases')) || existsSync(membersPath(dataDir));
}

export function databasesDirectory(dataDir: string): string {
  const directory = join(dataDir, 'databases');
  mkdirSync(directory, { recursive: true });
  return directory;
}

export function membersPath(dataDir: string): string {
  return join(dataDir, 'members.sqlite');
}

export function databasePath(dataDir: string, databaseId: string): string {
  return join(databasesDirectory(dataDir), databaseFileName(databaseId));
}

/** Escapes capitals: on file systems that ignore case, the databases `A` and `a` would share one file. */
export function databaseFileName(databaseId: string): string {
  return `db-${databaseId.replaceAll(/[A-Z]/g, (letter) => `~${letter.toLowerCase()}`)}.sqlite`;
}

/** Returns null if the name is not that of a database file. */
export function databaseIdOfFile(fileName: string): string | null {
  const name = /^db-(.+)\.sqlite$/.exec(fileName)?.[1];
  return name === undefined ? null : unescaped(name);
}

function unescaped(name: string): string {
  return name.replaceAll(/~([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the ids of all databases that have a file, sorted. With `withMissing`, includes databases that have a
 * checksum file but no database file, and those that are unloaded.
 */
export function databaseIds(
  dataDir: string,
  { withMissing = false }: { readonly withMissing?: boolean } = {},
): string[] {
  const directory = join(dataDir, 'databases');
  if (!existsSync(directory)) return [];
  const pattern = withMissing ? /^db-(.+)\.sqlite(?:-sums|-unloaded)?$/ : /^db-(.+)\.sqlite$/;
  const names = new Set(readdirSync(directory).flatMap((file) => pattern.exec(file)?.[1] ?? []));
  return [...names].map(unescaped).sort();
}

/** The ids of databases that were taken offline as damaged, or whose file is missing or empty. */
export function damagedIds(dataDir: string): string[] {
  const directory = databasesDirectory(dataDir);
  const names = new Set(readdirSync(directory));
  const isEmpty = (file: string): boolean =>
    (statSync(join(directory, file), { throwIfNoEntry: false })?.size ?? 0) === 0;
  return [...names].flatMap((name) => {
    const [, file = '', kind] = /^(db-.+\.sqlite)-(damaged|sums)$/.exec(name) ?? [];
    const isDamaged = kind === 'damaged' || (kind === 'sums' && !names.has(`${file}-unloaded`) && isEmpty(file));
    return isDamaged ? (databaseIdOfFile(file) ?? []) : [];
  });
}

/** The path for the file of an unloaded database that is being fetched from the backup. */
export function fetchingPath(dataDir: string, databaseId: string): string {
  return join(dataDir, 'fetching', databaseFileName(databaseId));
}

/** Removes what was fetched of an unloaded database that was deleted or replaced meanwhile. */
export function removeFetchedFiles(dataDir: string, databaseId: string): void {
  for (const suffix of ['', '.progress']) rmSync(fetchingPath(dataDir, databaseId) + suffix, { force: true });
}

/** Whether the continuous backup may have copies of a database. */
export function mayHaveCopies(path: string): boolean {
  return ['-copied', '-copied.new', '-unloaded'].some((suffix) => existsSync(path + suffix));
}

/**
 * Records durably that the continuous backup has copies of a database, although this directory has no record of them.
 */
export function noteCopies(path: string): void {
  if (mayHaveCopies(path)) return;
  writeFileSync(`${path}-copied.new`, '');
  syncPath(dirname(path));
}

/**
 * Makes the continuous backup copy the whole database again. The record of its copies is kept as the record of an
 * unfinished copy: without a record, a deletion of the database would not be recorded.
 */
export function forgetCopies(path: string): void {
  if (existsSync(`${path}-copied`)) renameSync(`${path}-copied`, `${path}-copied.new`);
}

/**
 * Removes a database and the files beside it. The database file goes first, so that an interrupted removal leaves a
 * database that is reported as missing.
 */
export function removeDatabaseFiles(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-damaged', '-copied', '-copied.new', '-unloaded', '-sums'])
    rmSync(path + suffix, { force: true });
}

/**
 * Renames a database file and its write-ahead log to `<path>.replaced-<n>` and returns the new path, or null if there
 * is no file.
 */
export function renameReplacedFiles(path: string): string | null {
  if (!existsSync(path)) return null;
  let number = 1;
  while (existsSync(`${path}.replaced-${number}`)) number++;
  const kept = `${path}.replaced-${number}`;
  renameSync(path, kept);
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${kept}-wal`);
  return kept;
}

/**
 * The paths of the old files of a database that were kept when it was replaced. They stay if the database is deleted.
 */
export function replacedFiles(path: string): string[] {
  const start = `${basename(path)}.replaced-`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(start))
    .map((name) => join(dirname(path), name))
    .sort();
}
