import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { damageBeforeOpening } from '../store/file-damage.ts';
import { damageProblems } from '../store/damage-problems.ts';
import { copyDatabase } from '../store/copy-database.ts';
import { requireDataDirectory } from '../store/data-directory.ts';
import { lockFile } from '../store/directory-lock.ts';
import { fileHash } from '../store/file-hash.ts';
import { storeFailure } from '../store/store-failure.ts';
import { requireFinishedRestore } from '../store/unfinished-restore.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { backupContents, readBackupEntry, type BackedUpFile, type BackupEntry } from './backup-contents.ts';
import { DATA_SETTINGS } from './config.ts';
import { readDatabasesPlace, throwIfProblems } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

const MANIFEST = 'manifest.json';
/** The manifest of an incomplete backup: the files that are complete. */
const UNFINISHED = 'manifest.unfinished.json';
/** The next version of it. */
const UNFINISHED_NEW = `${UNFINISHED}.new`;
/** Held by the command that writes to the directory. */
export const LOCK = 'backup.lock';
/** The lock, and the file that SQLite keeps beside it. */
const LOCK_FILES: readonly string[] = [LOCK, `${LOCK}-journal`];
/** A file that is being copied. It is renamed when it is complete. */
const COPYING = '.copying';

/** How often the files are listed, if some have changed since. */
const MAX_ROUNDS = 3;

/** SHA-256 of each file. Written last, so a backup without it is incomplete. */
export type Manifest = Readonly<Record<string, string>>;

/**
 * `backup DIR`: copies every database, the members and the schemas, each as of one moment, even while the server runs.
 * A file that is damaged or cannot be copied does not stop the backup of the others; it is named at the end, and the
 * command fails. After an interruption, the same command continues with the files that are missing.
 */
export async function runBackup(sources: Sources, print: (line: string) => void): Promise<void> {
  const { dataDir, directory } = readDirectories('backup', sources);
  requireDataDirectory(dataDir);
  requireFinishedRestore(dataDir);
  mkdirSync(directory, { recursive: true });
  // Two commands would replace each other's files, and a manifest would not fit them.
  const lock = lockFile(join(directory, LOCK), `another command backs up to ${directory}`);
  try {
    await backUp(dataDir, directory, print);
  } finally {
    lock.release();
    // Stays beside an unfinished backup: another command may hold it by now.
    if (!isBegun(directory)) rmSync(join(directory, LOCK), { force: true });
  }
}

async function backUp(dataDir: string, directory: string, print: (line: string) => void): Promise<void> {
  const manifest = await begunBackup(directory);
  const resumed = Object.keys(manifest).length;
  if (resumed > 0) print(`continuing a backup; files that are already complete: ${resumed}`);
  // An interruption from here on leaves a backup that the same command continues.
  writeUnfinished(directory, manifest);
  let round = await copyFiles(dataDir, directory, manifest, print);
  for (let rounds = 1; round.hasChanged && rounds < MAX_ROUNDS; rounds++)
    round = await copyFiles(dataDir, directory, manifest, print);
  const { problems } = round;
  if (Object.keys(manifest).length > 0) renameSync(join(directory, UNFINISHED), join(directory, MANIFEST));
  else if (problems.length === 0) {
    rmSync(join(directory, UNFINISHED), { force: true });
    throwIfProblems([`${dataDir} contains nothing to back up`]);
  }
  print(`backed up ${Object.keys(manifest).length} files to ${directory}`);
  if (problems.length > 0)
    throw new RockpoolError('database-damaged', { count: problems.length, problems: problems.join('\n') });
}

/**
 * Copies the files that the manifest lacks, and adds them to it. `hasChanged`: a file is no longer there, because the
 * server has unloaded, fetched or deleted its database, or has recorded a deletion.
 */
async function copyFiles(
  dataDir: string,
  directory: string,
  manifest: Record<string, string>,
  print: (line: string) => void,
): Promise<{ readonly problems: readonly string[]; readonly hasChanged: boolean }> {
  const contents = backupContents(dataDir);
  const problems = [...contents.problems];
  let hasChanged = false;
  for (const file of contents.files) {
    const { name, unloaded } = file;
    if (manifest[name] !== undefined) continue;
    if (unloaded !== null)
      print(
        `${databaseName(name)} is unloaded to ${unloaded.destination}; this backup contains only a reference to it`,
      );
    const found = await copyFile(file, join(directory, name));
    if (typeof found === 'string') manifest[name] = found;
    else {
      problems.push(`${name} is not backed up: ${found.problems}`);
      hasChanged ||= !existsSync(file.path) && (!file.isDatabase || damageBeforeOpening(file.path) !== 'missing');
    }
    writeUnfinished(directory, manifest);
  }
  return { problems, hasChanged };
}

/** Replaces the list as a whole, because on a full disk the write may fail. */
function writeUnfinished(directory: string, manifest: Manifest): void {
  writeFileSync(join(directory, UNFINISHED_NEW), JSON.stringify(manifest, null, 2));
  renameSync(join(directory, UNFINISHED_NEW), join(directory, UNFINISHED));
}

/** The name of the database file that a mark stands for. */
const databaseName = (mark: string): string => mark.slice(0, mark.lastIndexOf('-'));

/** Returns the files that an interrupted backup has completed. Throws if the directory contains anything else. */
async function begunBackup(directory: string): Promise<Record<string, string>> {
  if (readdirSync(directory).every((name) => LOCK_FILES.includes(name))) return {};
  if (!isBegun(directory)) throwIfProblems([`${directory} is not empty`]);
  const manifest = readUnfinished(directory);
  const intact: Record<string, string> = {};
  for (const [name, hash] of Object.entries(manifest))
    if (await isIntact(join(directory, name), hash)) intact[name] = hash;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isKept = Object.keys(intact).some((name) => join(directory, name) === path);
    if (entry.isFile() && ![UNFINISHED, ...LOCK_FILES].includes(entry.name) && !isKept) rmSync(path, { force: true });
  }
  return intact;
}

/** Whether the directory has a backup that is not complete. */
function isBegun(directory: string): boolean {
  return [UNFINISHED, UNFINISHED_NEW].some((name) => existsSync(join(directory, name)));
}

/** Returns an empty list if the list is missing or damaged: the backup then starts again. */
function readUnfinished(directory: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(directory, UNFINISHED), 'utf8')) as Manifest;
  } catch {
    return {};
  }
}

/** Returns the hash of the copy, or the reason why there is none. */
async function copyFile(
  { path, isDatabase }: BackedUpFile,
  to: string,
): Promise<string | { readonly problems: string }> {
  if (!isDatabase) {
    mkdirSync(dirname(to), { recursive: true });
    try {
      copyFileSync(path, to + COPYING);
    } catch (error) {
      if (existsSync(path)) throw error;
      return { problems: 'it no longer exists' };
    }
    renameSync(to + COPYING, to);
    return fileHash(to);
  }
  const problems = await damageProblems(path);
  if (problems.length > 0) return { problems: problems.join('; ') };
  try {
    copyDatabase(path, to + COPYING);
  } catch (error) {
    rmSync(to + COPYING, { force: true });
    const failure = storeFailure(error);
    // Every other file would fail too. The same command continues from here once there is space.
    if (failure.code === 'server-disk-full') throw failure;
    return { problems: failure.message };
  }
  renameSync(to + COPYING, to);
  return fileHash(to);
}

/** `verify DIR`: checks every file of a backup against its hash, and that SQLite can read it. */
export async function runVerify(sources: Sources, print: (line: string) => void): Promise<void> {
  const problems: string[] = [];
  const { positionals } = readSettings({}, sources, problems);
  const [directory = ''] = positionals;
  if (directory === '') problems.push('verify needs a directory');
  for (const extra of positionals.slice(1)) problems.push(`unknown argument ${extra}`);
  throwIfProblems(problems);
  const manifest = readManifest(directory);
  const entries = Object.keys(manifest).map((name) => [name, entryOf(name, directory)] as const);
  const differing = await differingFiles(directory, manifest);
  const unreadable = entries.filter(
    ([name, { kind }]) => kind !== 'file' && !differing.has(name) && !isReadable(join(directory, name)),
  );
  throwIfProblems([
    ...[...differing].map((name) => `${name} ${DIFFERS}`),
    ...unreadable.map(([name]) => `${name} is damaged: it fails SQLite’s integrity check`),
  ]);
  print(`${entries.length} files of ${directory} are intact`);
}

/** Throws `config-invalid` for a name that no backup contains, such as one with a path. */
export function entryOf(name: string, dataDir: string): BackupEntry {
  const entry = readBackupEntry(name, dataDir);
  if (entry === null) throwIfProblems([`${name} in ${MANIFEST} is not a file of a backup`]);
  return entry as BackupEntry;
}

function isReadable(path: string): boolean {
  let sql: SqliteFile | null = null;
  try {
    sql = new SqliteFile(path, { readOnly: true });
    return sql.get('PRAGMA quick_check(1)')?.[0] === 'ok';
  } catch {
    return false;
  } finally {
    sql?.close();
  }
}

/** What is wrong with a file of `differingFiles`. */
export const DIFFERS = 'is missing or differs from the backup';

/** Returns the names of the files of a backup that are missing or changed. */
export async function differingFiles(directory: string, manifest: Manifest): Promise<ReadonlySet<string>> {
  const differing = new Set<string>();
  for (const [name, hash] of Object.entries(manifest))
    if (!(await isIntact(join(directory, name), hash))) differing.add(name);
  return differing;
}

async function isIntact(path: string, hash: string): Promise<boolean> {
  return existsSync(path) && (await fileHash(path)) === hash;
}

export function readDirectories(
  command: string,
  sources: Sources,
): { readonly dataDir: string; readonly directory: string } {
  const problems: string[] = [];
  const given = readSettings(DATA_SETTINGS, sources, problems);
  const { postgres, dataDir } = readDatabasesPlace(given, problems);
  if (postgres !== null)
    problems.push(
      'back up PostgreSQL with its own tools, such as pg_dump; databases export writes one database to a file',
    );
  const [directory = '', ...more] = given.positionals;
  if (directory === '') problems.push(`${command} needs a directory`);
  for (const extra of more) problems.push(`unknown argument ${extra}`);
  throwIfProblems(problems);
  return { dataDir, directory };
}

/** Throws `config-invalid` if the manifest is missing, or names no file. */
export function readManifest(directory: string): Manifest {
  let manifest: Manifest = {};
  try {
    manifest = JSON.parse(readFileSync(join(directory, MANIFEST), 'utf8')) as Manifest;
  } catch {
    throwIfProblems([`${directory} does not hold a complete backup`]);
  }
  if (Object.keys(manifest).length === 0) throwIfProblems([`the backup in ${directory} is empty`]);
  return manifest;
}
