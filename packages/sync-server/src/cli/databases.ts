import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { adminTokenProblem } from '../auth/admin-access.ts';
import { isDatabaseId } from '../auth/gate.ts';
import { isHttpUrl } from '../auth/http-url.ts';
import { deletionMs } from '../backup/copy-record.ts';
import { acceptFile } from '../store/accept-file.ts';
import { restoreDatabase } from '../store/copy-database.ts';
import { databaseIds, databasePath, replacedFiles, requireDataDirectory } from '../store/data-directory.ts';
import { lockDirectory, type DirectoryLock } from '../store/directory-lock.ts';
import { beginFileChange, finishFileChange, finishFileChanges, incomingPath } from '../store/file-change.ts';
import { inspectDatabase } from '../store/inspect-database.ts';
import { openMembers } from '../store/open-members.ts';
import { readUnloadedMark } from '../store/unloaded-mark.ts';
import { DATABASES_SETTINGS } from './config.ts';
import { exportFile, refuseOverwrite } from './export-file.ts';
import { keepOwner } from './keep-owner.ts';
import { namedEntry } from './named-entry.ts';
import { POSTGRES_ACTIONS, runInPostgres } from './postgres-databases.ts';
import { readDatabasesPlace, readTime, readTokenFile, throwIfProblems } from './read-values.ts';
import { REMOTE_ACTIONS, runOnServer, type RemoteServer } from './remote-databases.ts';
import { requireDatabase } from './require-database.ts';
import { readSettings, type ParsedSettings, type Sources } from './settings.ts';

type Print = (line: string) => void;

/**
 * `list`, `inspect ID`, `export ID FILE`, `import ID FILE`, `delete ID`, `replace ID FILE`, `accept ID`, and on a
 * running server `create ID`, `close ID`, `drain ID`, `open ID`, `restore ID FROM --at TIME`. Actions that write to a
 * data directory need the server to be stopped. With PostgreSQL, servers may run, but `replace` and `accept` do not
 * exist.
 */
export async function runDatabases(sources: Sources, print: Print): Promise<void> {
  const problems: string[] = [];
  const given = readSettings(DATABASES_SETTINGS, sources, problems);
  const atMs = readTime('at', given.text('at'), problems);
  const server = readServer(given, problems);
  const { postgres, dataDir } = server === null ? readDatabasesPlace(given, problems) : { postgres: null, dataDir: '' };
  const [action = '', databaseId = '', file = '', ...more] = given.positionals;
  const takes = namedEntry(ARGUMENTS, action);
  if (takes === undefined) problems.push(`databases takes ${Object.keys(ARGUMENTS).join(', ')}`);
  else {
    const where = server !== null ? REMOTE_ACTIONS : postgres !== null ? POSTGRES_ACTIONS : FILE_ACTIONS;
    if (namedEntry<unknown>(where, action) === undefined)
      problems.push(
        `databases ${action} needs ${namedEntry(FILE_ACTIONS, action) === undefined ? '--server' : '--data'}`,
      );
    const wanted = [databaseId, file].slice(0, takes.length);
    takes.forEach((name, i) => wanted[i] === '' && problems.push(`databases ${action}: ${name} is missing`));
    for (const extra of [databaseId, file, ...more].slice(takes.length))
      if (extra !== '') problems.push(`unknown argument ${extra}`);
    if (databaseId !== '' && !isDatabaseId(databaseId))
      problems.push('a database id must consist of 1 to 64 letters, digits, _ or -');
  }
  if (atMs !== null && (server === null ? action !== 'export' : action !== 'restore'))
    problems.push(
      'use --at only with databases export and --data or --postgres, or with databases restore and --server',
    );
  if (action === 'restore') {
    if (atMs === null) problems.push('databases restore needs --at');
    if (file !== '' && !isDatabaseId(file)) problems.push('FROM must be the id of another database');
  }
  throwIfProblems(problems);
  if (server !== null)
    return runOnServer(server, action, { databaseId, file, atMs, confirm: given.text('confirm'), print });
  if (postgres === null) {
    requireDirectory(dataDir, action);
    namedEntry(FILE_ACTIONS, action)?.({ dataDir, databaseId, file, atMs, print });
  } else await runInPostgres(postgres, action, { databaseId, file, atMs, print });
}

/** Databases can be imported before the first start of a server, into a directory that the operator has created. */
function requireDirectory(dataDir: string, action: string): void {
  if (action !== 'import') requireDataDirectory(dataDir);
  else if (!existsSync(dataDir)) throwIfProblems([`--data: ${dataDir} does not exist`]);
}

/**
 * Null if no server is named, or if only the environment or the file names one, and a flag names another place. A named
 * server takes precedence over the server's own settings in the environment.
 */
function readServer(given: ParsedSettings, problems: string[]): RemoteServer | null {
  const [url, file] = [given.text('server'), given.text('admin-token-file')];
  const others = ['data', 'postgres', 'shards'].filter((name) => given.isFlag(name));
  if (given.isFlag('server')) problems.push(...others.map((other) => `use --server or --${other}, not both`));
  else if (url === '' || others.length > 0) {
    if (given.text('confirm') !== '') problems.push('--confirm needs --server');
    return null;
  }
  if (!isHttpUrl(url)) problems.push('--server takes a URL such as http://127.0.0.1:4001');
  if (file === '') problems.push('--server needs --admin-token-file');
  return { url, token: file === '' ? '' : readTokenFile('admin-token-file', file, adminTokenProblem, problems) };
}

interface Action {
  readonly dataDir: string;
  readonly databaseId: string;
  readonly file: string;
  /** For an export: the time of the exported state. Null exports the current state. */
  readonly atMs: number | null;
  readonly print: Print;
}

/** The arguments of each action. They do not depend on where it runs. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  list: [],
  inspect: ['ID'],
  export: ['ID', 'FILE'],
  import: ['ID', 'FILE'],
  delete: ['ID'],
  replace: ['ID', 'FILE'],
  accept: ['ID'],
  create: ['ID'],
  close: ['ID'],
  drain: ['ID'],
  open: ['ID'],
  restore: ['ID', 'FROM'],
};

const FILE_ACTIONS: Readonly<Record<string, (action: Action) => void>> = {
  list,
  inspect,
  export: exportDatabase,
  import: importDatabase,
  delete: deleteDatabase,
  replace: replaceDatabase,
  accept: acceptDatabase,
};

function list({ dataDir, print }: Action): void {
  for (const databaseId of databaseIds(dataDir, { withMissing: true })) {
    const path = databasePath(dataDir, databaseId);
    const unloaded = readUnloadedMark(path);
    if (unloaded !== null) print(`${databaseId}\t${unloaded.sizeBytes} bytes, unloaded to ${unloaded.destination}`);
    else print(`${databaseId}\t${existsSync(path) ? `${statSync(path).size} bytes` : 'the file is missing'}`);
  }
}

function inspect({ dataDir, databaseId, print }: Action): void {
  print(JSON.stringify(inspectDatabase(existingPath(dataDir, databaseId)), null, 2));
}

function exportDatabase({ dataDir, databaseId, file, atMs, print }: Action): void {
  refuseOverwrite(file);
  print(exportFile(existingPath(dataDir, databaseId), file, databaseId, atMs));
}

function importDatabase({ dataDir, databaseId, file, print }: Action): void {
  const lock = lockStopped(dataDir);
  try {
    // Includes unloaded databases and those whose file is missing: `replace` is for them.
    if (databaseIds(dataDir, { withMissing: true }).includes(databaseId))
      throwIfProblems([`${databaseId} already exists`]);
    requireDatabase(file); // before anything is written
    install(dataDir, databaseId, file);
    print(`imported ${file} as ${databaseId}`);
  } finally {
    lock.release();
  }
}

function deleteDatabase({ dataDir, databaseId, print }: Action): void {
  const lock = lockStopped(dataDir);
  try {
    requireKnown(dataDir, databaseId);
    const deletedMs = deletionMs(databasePath(dataDir, databaseId));
    beginFileChange(dataDir, databaseId, { kind: 'delete', deletedMs });
    finishFileChange(dataDir, databaseId, (id) => forgetMembers(dataDir, id));
    print(`deleted ${databaseId}`);
    for (const kept of replacedFiles(databasePath(dataDir, databaseId)))
      print(`${kept} still has its rows from before a replacement`);
  } finally {
    lock.release();
  }
}

/**
 * Replaces the file of a database. Keeps its members, and keeps the old file beside the new one, because the old file
 * may have what the copy lacks.
 */
function replaceDatabase({ dataDir, databaseId, file, print }: Action): void {
  const lock = lockStopped(dataDir);
  try {
    requireKnown(dataDir, databaseId);
    requireDatabase(file); // before anything is changed
    const kept = install(dataDir, databaseId, file);
    print(`replaced ${databaseId} with ${file}${kept === null ? '' : `; the old file is ${kept}`}`);
  } finally {
    lock.release();
  }
}

function acceptDatabase({ dataDir, databaseId, print }: Action): void {
  const lock = lockStopped(dataDir);
  try {
    acceptFile(existingPath(dataDir, databaseId));
    print(`accepted the file of ${databaseId} as it is`);
  } finally {
    lock.release();
  }
}

/** Replaces the database with a copy of the file. Returns the path of the old file, or null. */
function install(dataDir: string, databaseId: string, file: string): string | null {
  const staged = incomingPath(dataDir);
  restoreDatabase(file, staged, databaseId);
  beginFileChange(dataDir, databaseId, { kind: 'install', staged: basename(staged) });
  return finishFileChange(dataDir, databaseId, () => undefined);
}

/** Locks the directory of a stopped server, and finishes changes that were interrupted when a server was killed. */
function lockStopped(dataDir: string): DirectoryLock {
  const lock = lockDirectory(dataDir);
  finishFileChanges(dataDir, (databaseId) => forgetMembers(dataDir, databaseId));
  return {
    release: () => {
      keepOwner(dataDir);
      lock.release();
    },
  };
}

function forgetMembers(dataDir: string, databaseId: string): void {
  const members = openMembers(dataDir);
  members.forgetDatabase(databaseId);
  members.close();
}

/** Also accepts a database whose file is missing or unloaded. */
function requireKnown(dataDir: string, databaseId: string): void {
  if (!databaseIds(dataDir, { withMissing: true }).includes(databaseId))
    throw new RockpoolError('storage-missing', { database: databaseId });
}

function existingPath(dataDir: string, databaseId: string): string {
  const path = databasePath(dataDir, databaseId);
  const unloaded = readUnloadedMark(path);
  if (unloaded !== null)
    throw new RockpoolError('database-unavailable', {
      problem: `the database is unloaded to ${unloaded.destination}: restore it from there with restore --from`,
    });
  if (!existsSync(path)) throw new RockpoolError('storage-missing', { database: databaseId });
  return path;
}
