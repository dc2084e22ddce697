import { existsSync, statSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { isDatabaseId } from '../auth/gate.ts';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { acceptFile } from '../store/accept-file.ts';
import { copyDatabase, restoreDatabase } from '../store/copy-database.ts';
import {
  databaseIds,
  databasePath,
  renameReplacedFiles,
  membersPath,
  removeDatabaseFiles,
} from '../store/data-directory.ts';
import { lockDirectory } from '../store/directory-lock.ts';
import { inspectDatabase } from '../store/inspect-database.ts';
import { DATA_SETTINGS } from './config.ts';
import { namedEntry } from './named-entry.ts';
import { POSTGRES_ACTIONS, runInPostgres } from './postgres-databases.ts';
import { throwIfProblems, readPostgres } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

type Print = (line: string) => void;

/**
 * `list`, `inspect ID`, `export ID FILE`, `import ID FILE`, `delete ID`, `replace ID FILE`, `accept ID`. With a data
 * directory, the last four need the server to be stopped. PostgreSQL has no `replace` and `accept`, and the server may
 * run.
 */
export async function runDatabases(sources: Sources, print: Print): Promise<void> {
  const problems: string[] = [];
  const given = readSettings(DATA_SETTINGS, sources, problems);
  const postgres = readPostgres(given.text('postgres'), problems);
  const dataDir = postgres === '' ? given.required('data') : '';
  const [action = '', databaseId = '', file = '', ...more] = given.positionals;
  const command = namedEntry(ACTIONS, action);
  if (command === undefined) problems.push(`databases takes ${Object.keys(ACTIONS).join(', ')}`);
  else if (postgres !== '' && namedEntry(POSTGRES_ACTIONS, action) === undefined)
    problems.push(`databases ${action} needs --data`);
  else {
    const wanted = [databaseId, file].slice(0, command.takes.length);
    command.takes.forEach((name, i) => wanted[i] === '' && problems.push(`databases ${action}: ${name} is missing`));
    for (const extra of [databaseId, file, ...more].slice(command.takes.length))
      if (extra !== '') problems.push(`unknown argument ${extra}`);
    if (databaseId !== '' && !isDatabaseId(databaseId))
      problems.push('a database id has up to 64 letters, digits, _ and -');
  }
  throwIfProblems(problems);
  if (postgres === '') command?.run({ dataDir, databaseId, file, print });
  else await runInPostgres(postgres, action, { databaseId, file, print });
}

interface Action {
  readonly dataDir: string;
  readonly databaseId: string;
  readonly file: string;
  readonly print: Print;
}

const ACTIONS: Readonly<Record<string, { readonly takes: readonly string[]; readonly run: (action: Action) => void }>> =
  {
    list: { takes: [], run: list },
    inspect: { takes: ['ID'], run: inspect },
    export: { takes: ['ID', 'FILE'], run: exportDatabase },
    import: { takes: ['ID', 'FILE'], run: importDatabase },
    delete: { takes: ['ID'], run: deleteDatabase },
    replace: { takes: ['ID', 'FILE'], run: replaceDatabase },
    accept: { takes: ['ID'], run: acceptDatabase },
  };

function list({ dataDir, print }: Action): void {
  for (const databaseId of databaseIds(dataDir))
    print(`${databaseId}\t${statSync(databasePath(dataDir, databaseId)).size} bytes`);
}

function inspect({ dataDir, databaseId, print }: Action): void {
  print(JSON.stringify(inspectDatabase(existingPath(dataDir, databaseId)), null, 2));
}

function exportDatabase({ dataDir, databaseId, file, print }: Action): void {
  refuseOverwrite(file);
  copyDatabase(existingPath(dataDir, databaseId), file);
  print(`exported ${databaseId} to ${file}`);
}

function importDatabase({ dataDir, databaseId, file, print }: Action): void {
  const lock = lockDirectory(dataDir);
  try {
    const path = databasePath(dataDir, databaseId);
    refuseOverwrite(path);
    inspectDatabase(file); // throws if the file is not a Rockpool database, before anything is written
    restoreDatabase(file, path, databaseId);
    print(`imported ${file} as ${databaseId}`);
  } finally {
    lock.release();
  }
}

function deleteDatabase({ dataDir, databaseId, print }: Action): void {
  const lock = lockDirectory(dataDir);
  try {
    const path = existingPath(dataDir, databaseId);
    removeDatabaseFiles(path);
    const members = new SqliteMembers(membersPath(dataDir));
    members.forgetDatabase(databaseId);
    members.close();
    print(`deleted ${databaseId}`);
  } finally {
    lock.release();
  }
}

/**
 * Replaces the file of a database. Keeps its members, and the old file beside the new one, because it may hold what the
 * copy lacks.
 */
function replaceDatabase({ dataDir, databaseId, file, print }: Action): void {
  const lock = lockDirectory(dataDir);
  try {
    if (!databaseIds(dataDir, { withMissing: true }).includes(databaseId))
      throw new RockpoolError('storage-missing', { database: databaseId });
    inspectDatabase(file); // throws if the file is not a Rockpool database, before anything is changed
    const path = databasePath(dataDir, databaseId);
    const kept = renameReplacedFiles(path);
    restoreDatabase(file, path, databaseId);
    print(`replaced ${databaseId} by ${file}${kept === null ? '' : `; the old file is ${kept}`}`);
  } finally {
    lock.release();
  }
}

function acceptDatabase({ dataDir, databaseId, print }: Action): void {
  const lock = lockDirectory(dataDir);
  try {
    acceptFile(existingPath(dataDir, databaseId));
    print(`accepted the file of ${databaseId} as it is`);
  } finally {
    lock.release();
  }
}

function existingPath(dataDir: string, databaseId: string): string {
  const path = databasePath(dataDir, databaseId);
  if (!existsSync(path)) throw new RockpoolError('storage-missing', { database: databaseId });
  return path;
}

function refuseOverwrite(path: string): void {
  if (existsSync(path)) throwIfProblems([`${path} already exists`]);
}
