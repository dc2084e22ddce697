import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { beginRestoredLog } from '../store/copy-database.ts';
import {
  databaseFileName,
  databaseIdOfFile,
  databaseIds,
  databasePath,
  databasesDirectory,
  membersPath,
  noteCopies,
  renameReplacedFiles,
} from '../store/data-directory.ts';
import { beginFileChange, finishFileChange, incomingPath } from '../store/file-change.ts';
import { createMissing, damageBeforeOpening } from '../store/file-damage.ts';
import {
  endRestore,
  readRestore,
  restoringFolder,
  writeRestore,
  type RestoreState,
} from '../store/unfinished-restore.ts';
import { unloadedPath } from '../store/unloaded-mark.ts';
import { writeDurably } from '../store/write-durably.ts';
import type { Destination } from './destination.ts';
import { fetchDatabase } from './fetch-database.ts';
import { fetchPages } from './fetch-pages.ts';
import { listCopies, readCopies, type CopiesOfSource } from './generations.ts';
import { MEMBERS_SOURCE, SCHEMAS, sourceOfFile } from './object-names.ts';
import { damaged } from './page-section.ts';
import { objectsBySource, sourceOf } from './retention.ts';
import { planRestore } from './restore-plan.ts';

export interface RestoreOptions {
  readonly destination: Destination;
  /** The data directory, which the caller has locked. */
  readonly dataDir: string;
  /** One database. Null for all databases and the members. */
  readonly databaseId: string | null;
  /** Null for the newest state. */
  readonly atMs: number | null;
  /** Whether databases that exist may be replaced. Their old files are kept. */
  readonly replaces: boolean;
  readonly print: (line: string) => void;
}

export interface Restored {
  readonly databases: number;
  /** What was not restored because its copies are damaged, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Restores databases as of one moment, with the schemas of their clients. Each file is complete and checked before it
 * is installed. Throws `backup-damaged` or `backup-unavailable`, and `config-invalid` before anything is written, also
 * if the destination has no copy from that moment.
 *
 * If all databases are restored, a damaged copy does not stop the others. Its database counts as missing, so that a
 * server keeps it offline; a file that is in the directory already stays in use. Without members, no server may start,
 * because it would not know who is revoked: the restore then stays unfinished, and this throws `backup-damaged`.
 */
export async function restoreAll(options: RestoreOptions): Promise<Restored> {
  const { destination, dataDir, databaseId, print } = options;
  const state = beginState(options);
  let { done } = state;
  const problems = new Map<string, string>();
  const sources =
    databaseId === null
      ? sourcesOf(destination)
      : [{ source: sourceOfFile(databaseFileName(databaseId)), copies: null }];
  let earliestMs = Infinity;
  if (done.length > 0) print(`continuing a restore; files that are already complete: ${done.length}`);
  for await (const { source, copies } of sources) {
    if (done.includes(source)) continue;
    const found = copies ?? (await listCopies(destination, source));
    earliestMs = Math.min(earliestMs, ...found.generations.map(({ base }) => base?.timeMs ?? Infinity));
    try {
      if (!(await restoreSource(source, found, state.atMs, options))) continue;
    } catch (error) {
      const problem = databaseId === null ? problemOfOne(source, error, dataDir) : null;
      if (problem === null) throw error;
      problems.set(source, problem);
      continue;
    }
    done = [...done, source];
    writeRestore(dataDir, { ...state, done });
  }
  if (done.length > 0) await restoreSchemas(destination, dataDir);
  if (problems.has(MEMBERS_SOURCE) && !existsSync(membersPath(dataDir))) throw damagedCopies([...problems.values()]);
  if (done.length > 0) createMembers([...done, ...problems.keys()], options);
  endRestore(dataDir);
  if (done.length + problems.size === 0) throw nothingToRestore(options, earliestMs);
  if (databaseId === null) printOthers([...done, ...problems.keys()], options);
  return {
    databases: done.filter((source) => source !== MEMBERS_SOURCE).length,
    problems: [...problems.values()],
  };
}

/**
 * Creates members in a directory that had no databases before, if none were restored. Without the file, they would
 * count as lost (store/open-members.ts).
 */
function createMembers(restored: readonly string[], { dataDir, databaseId, print }: RestoreOptions): void {
  const wasEmpty = databaseIds(dataDir, { withMissing: true }).every((id) =>
    restored.includes(sourceOfFile(databaseFileName(id))),
  );
  if (!wasEmpty || existsSync(membersPath(dataDir))) return;
  new SqliteMembers(membersPath(dataDir)).close();
  const why = databaseId === null ? 'there is no copy of them from that time' : 'only one database is';
  print(`the members are not restored, because ${why}: nobody has a stored role, and nobody is revoked`);
}

/** The line for the operator about a source whose copies are damaged. Null for any other failure. */
function problemOfOne(source: string, error: unknown, dataDir: string): string | null {
  if (!(error instanceof RockpoolError && error.code === 'backup-damaged')) return null;
  const { object, problem, restorableUntil } = error.fields;
  const what = `${typeof object === 'string' ? `${object}: ` : ''}${String(problem)}`;
  const until = typeof restorableUntil === 'string' ? restorableUntil : null;
  if (source === MEMBERS_SOURCE) return problemOfMembers(what, until, membersPath(dataDir));
  const databaseId = databaseIdOfFile(`${source}.sqlite`);
  if (databaseId === null) return null;
  const [moment, note] = until === null ? ['TIME', ', with an earlier time'] : [until, ''];
  const line = `${databaseId}: ${what}; restore it by --database ${databaseId} --replace --at ${moment}${note}`;
  return keepOffline(source, dataDir) ? line : `${line}; until then it stays in use as it is now`;
}

function problemOfMembers(what: string, until: string | null, path: string): string {
  const earlier = `those of another backup, or of a restore into another directory with --at ${until ?? 'an earlier TIME'}`;
  return existsSync(path)
    ? `members: ${what}; ${path} stays in use as it is now`
    : `members: ${what}; no server starts without them: put ${earlier}, at ${path}, and run the same command again`;
}

/** `backup-damaged` with a line for each source that was not restored. */
export function damagedCopies(problems: readonly string[]): RockpoolError {
  return new RockpoolError('backup-damaged', { count: problems.length, problems: problems.join('\n') });
}

/**
 * A checksum file without a database marks a database as missing. Returns false for a database that has an intact file,
 * which stays in use.
 */
function keepOffline(source: string, dataDir: string): boolean {
  const path = join(databasesDirectory(dataDir), `${source}.sqlite`);
  if (existsSync(path)) return damageBeforeOpening(path) !== null;
  // Only the copies have an unloaded database.
  if (existsSync(unloadedPath(path))) return true;
  createMissing(path);
  noteCopies(path);
  return true;
}

/** Names the databases that `--replace` has left, because they did not exist at that moment. */
function printOthers(known: readonly string[], { dataDir, print }: RestoreOptions): void {
  for (const databaseId of databaseIds(dataDir))
    if (!known.includes(sourceOfFile(databaseFileName(databaseId))))
      print(`${databaseId} stays as it is: it has no copy from that time`);
}

/** A restore from the wrong destination or time fails with this error, instead of restoring nothing. */
function nothingToRestore({ destination, databaseId }: RestoreOptions, earliestMs: number): RockpoolError {
  const what = databaseId === null ? destination.name : `${destination.name} for ${databaseId}`;
  return invalid(
    earliestMs === Infinity
      ? `there is no backup in ${what}`
      : `there is no copy from that time in ${what}; the first one is from ${new Date(earliestMs).toISOString()}`,
  );
}

async function* sourcesOf(
  destination: Destination,
): AsyncGenerator<{ readonly source: string; readonly copies: CopiesOfSource }> {
  for await (const objects of objectsBySource(destination))
    yield { source: sourceOf(objects[0]?.key ?? ''), copies: readCopies(objects) };
}

function beginState(options: RestoreOptions): RestoreState {
  const { destination, dataDir, databaseId, atMs, replaces } = options;
  const request = { from: destination.name, databaseId, asked: atMs };
  const known = readRestore(dataDir, request);
  if (known !== null) return known;
  const existing = databaseIds(dataDir, { withMissing: true }).filter((id) => databaseId === null || id === databaseId);
  if (existing.length > 0 && !replaces)
    throw invalid(
      databaseId === null
        ? `${dataDir} already has databases; --replace keeps their old files beside the restored ones`
        : `${databaseId} exists; --replace keeps its old file beside the restored one`,
    );
  const state = { ...request, atMs: atMs ?? NEWEST, done: [] };
  writeRestore(dataDir, state);
  return state;
}

/** Returns false if the database did not exist at that time. */
async function restoreSource(
  source: string,
  copies: CopiesOfSource,
  atMs: number,
  { destination, dataDir, print }: RestoreOptions,
): Promise<boolean> {
  const plan = planRestore(copies, atMs);
  if (plan === null) return false;
  const isMembers = source === MEMBERS_SOURCE;
  const databaseId = databaseIdOfFile(`${source}.sqlite`);
  if (!isMembers && databaseId === null) return false;
  const path = join(restoringFolder(dataDir), `${source}.sqlite`);
  let shownMs = performance.now();
  const fetched = await (isMembers ? fetchPages : fetchDatabase)(destination, plan, path, {
    atMs,
    onProgress: (fetchedBytes, totalBytes) => {
      if (performance.now() - shownMs < PROGRESS_INTERVAL_MS) return;
      shownMs = performance.now();
      print(`${source}: ${megabytes(fetchedBytes)} of ${megabytes(totalBytes)} MB`);
    },
  });
  let kept: string | null = null;
  if (isMembers) kept = installMembers(path, dataDir);
  else installDatabase(path, dataDir, databaseId ?? '');
  print(
    `restored ${databaseId ?? source} as of ${new Date(fetched.timeMs).toISOString()}${kept === null ? '' : `; the old file is ${kept}`}`,
  );
  return true;
}

/** The clock of this machine may be behind that of the machine that copied. */
const NEWEST: number = Number.MAX_SAFE_INTEGER;

const PROGRESS_INTERVAL_MS = 2_000;

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** Because of the new log epoch, devices send again what the copy lacks. */
function installDatabase(path: string, dataDir: string, databaseId: string): void {
  beginRestoredLog(path, databaseId);
  const staged = incomingPath(dataDir);
  renameSync(path, staged);
  renameSync(`${path}-sums`, `${staged}-sums`);
  databasesDirectory(dataDir);
  beginFileChange(dataDir, databaseId, { kind: 'install', staged: basename(staged) });
  finishFileChange(dataDir, databaseId, () => undefined);
  // A deletion before the next copy has to be recorded, or another restore would bring the database back.
  noteCopies(databasePath(dataDir, databaseId));
}

/**
 * Keeps the old members beside the new ones, because they may have what the copy lacks. Returns their path, or null.
 */
function installMembers(path: string, dataDir: string): string | null {
  const sql = new SqliteFile(path, { hasChecksums: false });
  try {
    if (sql.get('PRAGMA integrity_check(1)')?.[0] !== 'ok')
      throw damaged(MEMBERS_SOURCE, 'the file fails SQLite’s integrity check');
  } finally {
    sql.close();
  }
  const target = membersPath(dataDir);
  const kept = renameReplacedFiles(target);
  for (const suffix of ['-wal', '-shm']) rmSync(target + suffix, { force: true });
  renameSync(path, target);
  return kept;
}

/** A schema file never changes, because its name is its hash. */
async function restoreSchemas(destination: Destination, dataDir: string): Promise<void> {
  for await (const { key } of destination.list(SCHEMAS)) {
    const content = await destination.get(key);
    const path = join(dataDir, 'schemas', basename(key));
    if (content === null || existsSync(path)) continue;
    writeDurably(path, content);
  }
}

function invalid(problem: string): RockpoolError {
  return new RockpoolError('config-invalid', { count: 1, problems: problem });
}
