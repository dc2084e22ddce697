import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
import { DATA_SETTINGS } from './config.ts';
import { throwIfProblems } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

const MANIFEST = 'manifest.json';
const MEMBERS = 'members.sqlite';

/** SHA-256 of each file. Written last, so a backup without it is incomplete. */
type Manifest = Readonly<Record<string, string>>;

/**
 * `backup DIR`: copies every database and the members, each as of one moment, also while the server runs. A damaged
 * database is left out, because its copy would pass for a good one; it is named at the end, and the command fails.
 */
export async function runBackup(sources: Sources, print: (line: string) => void): Promise<void> {
  const { dataDir, directory } = readDirectories('backup', sources);
  mkdirSync(directory, { recursive: true });
  if (readdirSync(directory).length > 0) throwIfProblems([`${directory} is not empty`]);
  const files = [
    ...databaseIds(dataDir, { withMissing: true }).map((id) => ({
      name: databaseFileName(id),
      path: databasePath(dataDir, id),
    })),
    { name: MEMBERS, path: membersPath(dataDir) },
  ];
  const manifest: Record<string, string> = {};
  const damaged: string[] = [];
  for (const { name, path } of files) {
    const problems = await damageProblems(path);
    if (problems.length > 0) {
      damaged.push(`${name} is not backed up: ${problems.join('; ')}`);
      continue;
    }
    if (!existsSync(path)) continue;
    copyDatabase(path, join(directory, name));
    manifest[name] = hashOf(join(directory, name));
  }
  writeFileSync(join(directory, MANIFEST), JSON.stringify(manifest, null, 2));
  print(`backed up ${Object.keys(manifest).length} files to ${directory}`);
  if (damaged.length > 0)
    throw new RockpoolError('database-damaged', { count: damaged.length, problems: damaged.join('\n') });
}

/**
 * `restore DIR`: restores a backup into a data directory without databases. Verifies all files before it writes any.
 */
export function runRestore(sources: Sources, print: (line: string) => void): void {
  const { dataDir, directory } = readDirectories('restore', sources);
  const manifest = readManifest(directory);
  throwIfProblems(
    Object.entries(manifest).flatMap(([name, hash]) =>
      existsSync(join(directory, name)) && hashOf(join(directory, name)) === hash
        ? []
        : [`${name} is missing or differs from the backup`],
    ),
  );
  databasesDirectory(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    if (databaseIds(dataDir).length > 0) throwIfProblems([`${dataDir} already has databases`]);
    for (const name of Object.keys(manifest)) {
      if (name === MEMBERS) copyDatabase(join(directory, name), membersPath(dataDir));
      else
        restoreDatabase(join(directory, name), join(databasesDirectory(dataDir), name), databaseIdOfFile(name) ?? name);
    }
  } finally {
    lock.release();
  }
  print(`restored ${Object.keys(manifest).length} files to ${dataDir}; devices send later changes again`);
}

function readDirectories(command: string, sources: Sources): { readonly dataDir: string; readonly directory: string } {
  const problems: string[] = [];
  const given = readSettings(DATA_SETTINGS, sources, problems);
  if (given.text('postgres') !== '')
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

function readManifest(directory: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(directory, MANIFEST), 'utf8')) as Manifest;
  } catch {
    throwIfProblems([`${directory} does not hold a complete backup`]);
    return {};
  }
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
