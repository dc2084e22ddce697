import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { damageProblems } from '../store/damage-problems.ts';
import { databaseProblems } from '../store/check-database.ts';
import { databaseIds, databasePath } from '../store/data-directory.ts';
import { isLocked } from '../store/directory-lock.ts';
import { readUnloadedMark } from '../store/unloaded-mark.ts';
import { DOCTOR_SETTINGS, rejectPositionals } from './config.ts';
import { examinePostgres } from './postgres-databases.ts';
import { throwIfProblems, readPostgresSource, readSchema } from './read-values.ts';
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
  const postgres = readPostgresSource(given, settingProblems);
  const dataDir = postgres === null ? given.required('data') : '';
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
  for (const databaseId of databaseIds(dataDir, { withMissing: true })) {
    const path = databasePath(dataDir, databaseId);
    const unloaded = readUnloadedMark(path);
    if (unloaded !== null) {
      print(`note     database ${databaseId}: unloaded to ${unloaded.destination}, which was not checked`);
      continue;
    }
    const contents = existsSync(path) ? databaseProblems(path, databaseId, schema) : [];
    report(`database ${databaseId}`, [...(await damageProblems(path)), ...contents]);
  }
  return isHealthy;
}

function directoryProblems(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [`${dataDir} does not exist`];
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return [`${dataDir} is not writable for this user`];
  }
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize < LITTLE_SPACE_BYTES
    ? [`only ${Math.round((bavail * bsize) / 1024 ** 2)} MiB are free on its disk`]
    : [];
}
