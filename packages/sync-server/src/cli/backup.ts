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
import { join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { damageProblems } from '../store/damage-problems.ts';
import { copyDatabase, restoreDatabase } from '../store/copy-database.ts';
import {
  databaseFileName,
  databaseIdOfFile,
  databaseIds,
  databasePath,
  databasesDirectory,
  membersPath,
} from '../store/data-directory.ts';
import { lockDirectory } from '../store/directory-lock.ts';
import { fileHash } from '../store/file-hash.ts';
import { storeFailure } from '../store/store-failure.ts';
import { readUnloadedMark, unloadedPath } from '../store/unloaded-mark.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { DATA_SETTINGS } from './config.ts';
import { throwIfProblems } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

const MANIFEST = 'manifest.json';
/** The manifest of an incomplete backup: the files that are complete. */
const UNFINISHED = 'manifest.unfinished.json';
/** A file that is being copied. It is renamed when it is complete. */
const COPYING = '.copying';
const MEMBERS = 'members.sqlite';

/** SHA-256 of each file. Written last, so a backup without it is incomplete. */
type Manifest = Readonly<Record<string, string>>;

/**
 * `backup DIR`: copies every database and the members, each as of one moment, also while the server runs. A file that
 * is damaged or cannot be copied does not stop the backup of the others; it is named at the end, and the command fails.
 * After an interruption, the same command continues with the files that are missing.
 */
export async function runBackup(sources: Sources, print: (line: string) => void): Promise<void> {
  const { dataDir, directory } = readDirectories('backup', sources);
  mkdirSync(directory, { recursive: true });
  const manifest = await begunBackup(directory);
  const resumed = Object.keys(manifest).length;
  if (resumed > 0) print(`continues a backup of ${resumed} files`);
  const problems: string[] = [];
  for (const { name, path } of backedUpFiles(dataDir)) {
    const unloaded = readUnloadedMark(path);
    if (unloaded !== null)
      print(`${name} is unloaded to ${unloaded.destination}, which keeps it; here is only its mark`);
    if (manifest[name] !== undefined) continue;
    if (unloaded !== null) {
      copyFileSync(unloadedPath(path), join(directory, unloadedPath(name)));
      manifest[unloadedPath(name)] = await fileHash(join(directory, unloadedPath(name)));
      continue;
    }
    const found = await copyFile(path, join(directory, name));
    if (typeof found === 'string') manifest[name] = found;
    else if (found !== null) problems.push(`${name} is not backed up: ${found.problems}`);
    writeFileSync(join(directory, UNFINISHED), JSON.stringify(manifest, null, 2));
  }
  renameSync(join(directory, UNFINISHED), join(directory, MANIFEST));
  print(`backed up ${Object.keys(manifest).length} files to ${directory}`);
  if (problems.length > 0)
    throw new RockpoolError('database-damaged', { count: problems.length, problems: problems.join('\n') });
}

function backedUpFiles(dataDir: string): { readonly name: string; readonly path: string }[] {
  return [
    ...databaseIds(dataDir, { withMissing: true }).map((id) => ({
      name: databaseFileName(id),
      path: databasePath(dataDir, id),
    })),
    { name: MEMBERS, path: membersPath(dataDir) },
  ];
}

/** Returns the files that an interrupted backup has completed. Throws if the directory holds anything else. */
async function begunBackup(directory: string): Promise<Record<string, string>> {
  const files = readdirSync(directory);
  if (files.length === 0) return {};
  if (!files.includes(UNFINISHED)) throwIfProblems([`${directory} is not empty`]);
  const manifest = readManifest(directory, UNFINISHED);
  const intact: Record<string, string> = {};
  for (const [name, hash] of Object.entries(manifest))
    if (await isIntact(join(directory, name), hash)) intact[name] = hash;
  for (const name of files)
    if (name !== UNFINISHED && intact[name] === undefined) rmSync(join(directory, name), { force: true });
  return intact;
}

/** Returns the hash of the copy, the damage of the file, or null if it does not exist. */
async function copyFile(from: string, to: string): Promise<string | { readonly problems: string } | null> {
  const problems = await damageProblems(from);
  if (problems.length > 0) return { problems: problems.join('; ') };
  if (!existsSync(from)) return null;
  try {
    copyDatabase(from, to + COPYING);
  } catch (error) {
    rmSync(to + COPYING, { force: true });
    const failure = storeFailure(error);
    // Every other file would fail as well. The same command continues from here once space is free.
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
  const manifest = readManifest(directory, MANIFEST);
  const differing = await differences(directory, manifest);
  for (const name of Object.keys(manifest))
    if (
      !isMark(name) &&
      !differing.some((problem) => problem.startsWith(`${name} `)) &&
      !isReadable(join(directory, name))
    )
      differing.push(`${name} is damaged: it fails SQLite’s integrity check`);
  throwIfProblems(differing);
  print(`${Object.keys(manifest).length} files of ${directory} are intact`);
}

/** An unloaded database has a mark instead of a file. */
function isMark(name: string): boolean {
  return databaseIdOfFile(name) === null && name !== MEMBERS;
}

function isReadable(path: string): boolean {
  const sql = new SqliteFile(path, { readOnly: true });
  try {
    return sql.get('PRAGMA quick_check(1)')?.[0] === 'ok';
  } catch {
    return false;
  } finally {
    sql.close();
  }
}

/**
 * `restore DIR`: restores a backup into a data directory without databases. Verifies all files before it writes any.
 */
export async function runRestore(sources: Sources, print: (line: string) => void): Promise<void> {
  const { dataDir, directory } = readDirectories('restore', sources);
  const manifest = readManifest(directory, MANIFEST);
  throwIfProblems(await differences(directory, manifest));
  databasesDirectory(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    if (databaseIds(dataDir, { withMissing: true }).length > 0) throwIfProblems([`${dataDir} already has databases`]);
    for (const name of Object.keys(manifest)) {
      if (isMark(name)) copyFileSync(join(directory, name), join(databasesDirectory(dataDir), name));
      else if (name === MEMBERS) copyDatabase(join(directory, name), membersPath(dataDir));
      else
        restoreDatabase(join(directory, name), join(databasesDirectory(dataDir), name), databaseIdOfFile(name) ?? name);
    }
  } finally {
    lock.release();
  }
  print(`restored ${Object.keys(manifest).length} files to ${dataDir}; devices send later changes again`);
}

async function differences(directory: string, manifest: Manifest): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, hash] of Object.entries(manifest))
    if (!(await isIntact(join(directory, name), hash))) problems.push(`${name} is missing or differs from the backup`);
  return problems;
}

async function isIntact(path: string, hash: string): Promise<boolean> {
  return existsSync(path) && (await fileHash(path)) === hash;
}

function readDirectories(command: string, sources: Sources): { readonly dataDir: string; readonly directory: string } {
  const problems: string[] = [];
  const given = readSettings(DATA_SETTINGS, sources, problems);
  if (given.text('postgres') !== '' || given.text('shards') !== '')
    problems.push(
      'back up PostgreSQL with its own tools, such as pg_dump; databases export writes one database to a file',
    );
  const dataDir = given.required('data');
  const [directory = '', ...more] = given.positionals;
  if (directory === '') problems.push(`${command} needs a directory`);
  for (const extra of more) problems.push(`unknown argument ${extra}`);
  throwIfProblems(problems);
  return { dataDir, directory };
}

function readManifest(directory: string, name: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(directory, name), 'utf8')) as Manifest;
  } catch {
    throwIfProblems([`${directory} does not hold a complete backup`]);
    return {};
  }
}
