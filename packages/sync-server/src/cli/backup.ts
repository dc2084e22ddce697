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
import { failWith } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

const MANIFEST = 'manifest.json';
const MEMBERS = 'members.sqlite';

/** SHA-256 of each file, written last: a backup without it did not come to its end. */
type Manifest = Readonly<Record<string, string>>;

/**
 * `backup DIR`: every database and the members, each as it is at one moment, also while the server runs. A damaged
 * database is left out and named at the end, and the command fails: a copy of it would pass for a good one.
 */
export async function runBackup(sources: Sources, print: (line: string) => void): Promise<void> {
  const { dataDir, directory } = readPlaces('backup', sources);
  mkdirSync(directory, { recursive: true });
  if (readdirSync(directory).length > 0) failWith([`${directory} is not empty`]);
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

/** `restore DIR`, into a data directory that has no databases. All files are checked before any is written. */
export function runRestore(sources: Sources, print: (line: string) => void): void {
  const { dataDir, directory } = readPlaces('restore', sources);
  const manifest = readManifest(directory);
  failWith(
    Object.entries(manifest).flatMap(([name, hash]) =>
      existsSync(join(directory, name)) && hashOf(join(directory, name)) === hash
        ? []
        : [`${name} is missing or is not what was backed up`],
    ),
  );
  databasesDirectory(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    if (databaseIds(dataDir).length > 0) failWith([`${dataDir} has databases already`]);
    for (const name of Object.keys(manifest)) {
      if (name === MEMBERS) copyDatabase(join(directory, name), membersPath(dataDir));
      else
        restoreDatabase(join(directory, name), join(databasesDirectory(dataDir), name), databaseIdOfFile(name) ?? name);
    }
  } finally {
    lock.release();
  }
  print(`restored ${Object.keys(manifest).length} files to ${dataDir}; devices that know more will send it again`);
}

function readPlaces(command: string, sources: Sources): { readonly dataDir: string; readonly directory: string } {
  const problems: string[] = [];
  const given = readSettings(DATA_SETTINGS, sources, problems);
  if (given.text('postgres') !== '')
    problems.push('PostgreSQL has backups of its own, such as pg_dump; databases export gives one database as a file');
  const dataDir = given.required('data');
  const [directory = '', ...more] = given.positionals;
  if (directory === '') problems.push(`${command} needs a directory`);
  for (const extra of more) problems.push(`${extra} is not known`);
  failWith(problems);
  return { dataDir, directory };
}

function readManifest(directory: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(directory, MANIFEST), 'utf8')) as Manifest;
  } catch {
    failWith([`${directory} holds no complete backup`]);
    return {};
  }
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
