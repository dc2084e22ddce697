import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import type { Schema } from '@rockpool/shared';
import { readCopyFacts } from '../backup/copy-record.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { damageProblems } from '../store/damage-problems.ts';
import { databaseProblems } from '../store/check-database.ts';
import { databaseIds, databasePath, isDataDirectory, membersPath } from '../store/data-directory.ts';
import { isLocked } from '../store/directory-lock.ts';
import { sqliteDamage } from '../store/file-damage.ts';
import { rememberedSchemas } from '../store/known-schemas.ts';
import { lostMembersProblem } from '../store/open-members.ts';
import { restoringFolder } from '../store/unfinished-restore.ts';
import { readUnloadedMark } from '../store/unloaded-mark.ts';
import { DOCTOR_SETTINGS, rejectPositionals } from './config.ts';
import { examinePostgres } from './postgres-databases.ts';
import { throwIfProblems, readDatabasesPlace, readSchema } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

/** With less free space than this, the next large import may fill the disk. */
const LITTLE_SPACE_BYTES = 1024 ** 3;

/**
 * Checks everything on which a server depends, even while it runs. Changes nothing. Returns whether it found no
 * problem.
 */
export async function runDoctor(sources: Sources, print: (line: string) => void): Promise<boolean> {
  const settingProblems: string[] = [];
  const given = readSettings(DOCTOR_SETTINGS, sources, settingProblems);
  rejectPositionals(given.positionals, settingProblems);
  const { postgres, dataDir } = readDatabasesPlace(given, settingProblems);
  const schema = readSchema(given.text('schema'), settingProblems);
  throwIfProblems(settingProblems);
  let isHealthy = true;
  const report = (subject: string, problems: readonly string[]): void => {
    isHealthy &&= problems.length === 0;
    print(
      problems.length === 0
        ? `ok       ${subject}`
        : problems.map((problem) => `problem  ${subject}: ${problem}`).join('\n'),
    );
  };
  if (postgres !== null) {
    await examinePostgres(postgres, schema, report);
    return isHealthy;
  }
  report('data directory', directoryProblems(dataDir));
  if (!existsSync(dataDir)) return false;
  print(`note     ${isLocked(dataDir) ? 'a server runs here' : 'no server runs here'}`);
  if (readCopyFacts(membersPath(dataDir)) === null)
    print('note     no continuous backup has copied this directory yet (--backup-to)');
  if (!existsSync(membersPath(dataDir)) && lostMembersProblem(dataDir) === null)
    print(`note     ${membersPath(dataDir)} does not exist: nobody has a stored role, and nobody is revoked`);
  report('members and schemas', [...membersProblems(dataDir), ...unreadableSchemas(dataDir)]);
  for (const databaseId of databaseIds(dataDir, { withMissing: true })) {
    const path = databasePath(dataDir, databaseId);
    try {
      const unloaded = readUnloadedMark(path);
      if (unloaded === null) report(`database ${databaseId}`, await problemsOf(path, databaseId, schema));
      else print(`note     database ${databaseId}: unloaded to ${unloaded.destination}, which was not checked`);
    } catch (error) {
      // The other databases are checked all the same.
      report(`database ${databaseId}`, [`its files cannot be read: ${messageOf(error)}`]);
    }
  }
  return isHealthy;
}

async function problemsOf(path: string, databaseId: string, schema: Schema | null): Promise<string[]> {
  const contents = existsSync(path) ? databaseProblems(path, databaseId, schema) : [];
  return [...(await damageProblems(path)), ...contents];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Without its members, no server starts. */
function membersProblems(dataDir: string): string[] {
  const path = membersPath(dataDir);
  const lost = lostMembersProblem(dataDir);
  if (lost !== null) return [lost];
  if (!existsSync(path)) return [];
  let sql: SqliteFile | null = null;
  try {
    sql = new SqliteFile(path, { readOnly: true });
    if (sql.get('PRAGMA integrity_check(1)')?.[0] === 'ok') return [];
  } catch (error) {
    // For example a folder that is read-only, where SQLite cannot read the file beside its log.
    if (sqliteDamage(error) === null) return [`${path} cannot be read: ${messageOf(error)}`];
  } finally {
    sql?.close();
  }
  return [
    `${path} is damaged: stop the server, put a copy from a backup in its place, and remove ${path}-wal and ${path}-shm`,
  ];
}

function unreadableSchemas(dataDir: string): string[] {
  const problems: string[] = [];
  rememberedSchemas(dataDir, (name) =>
    problems.push(
      `schemas/${name} cannot be read: clients with that schema get schema-mismatch; restore it from a backup`,
    ),
  );
  return problems;
}

function directoryProblems(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [`${dataDir} does not exist`];
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return [`${dataDir} is not writable for this user`];
  }
  const problems: string[] = [];
  const restoring = restoringFolder(dataDir);
  if (existsSync(restoring))
    problems.push(`a restore did not finish, and no server starts: run it again, or remove ${restoring}`);
  else if (!isDataDirectory(dataDir)) problems.push(`no server has used ${dataDir} as its data directory`);
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < LITTLE_SPACE_BYTES)
    problems.push(`only ${Math.round((bavail * bsize) / 1024 ** 2)} MiB are free on its disk`);
  return problems;
}
