import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { acceptFile } from './accept-file.ts';
import { restoreDatabase } from './copy-database.ts';
import { damageProblems } from './damage-problems.ts';
import { databasePath } from './data-directory.ts';
import { openDatabaseFile } from './database-file.ts';
import {
  beginFileChange,
  fileChangeSteps,
  finishFileChanges,
  incomingPath,
  isFileChanging,
  type FileChange,
} from './file-change.ts';
import { markDamaged } from './file-damage.ts';
import { inspectDatabase } from './inspect-database.ts';
import { SqliteStore } from './sqlite-store.ts';
import { readUnloadedMark } from './unloaded-mark.ts';

const ID = 'Household';

function create(path: string, name: string): void {
  const { sql } = openDatabaseFile(path, TEST_SCHEMA, { databaseId: ID });
  sql.transaction(() => sql.run(`INSERT INTO accounts (id, name) VALUES (?, ?)`, name, name));
  sql.close();
}

function nameIn(path: string): unknown {
  const { sql } = openDatabaseFile(path, TEST_SCHEMA);
  try {
    return sql.get('SELECT id FROM accounts')?.[0];
  } finally {
    sql.close();
  }
}

/**
 * Kills a server after `steps` steps of a change, and starts the next one. Returns whether the change was complete
 * before the kill.
 */
function killAfter(steps: number, dataDir: string, change: FileChange, forgotten: string[]): boolean {
  beginFileChange(dataDir, ID, change);
  const running = fileChangeSteps(dataDir, ID, (id) => forgotten.push(id));
  let isDone = false;
  for (let step = 0; step < steps && !isDone; step++) isDone = running.next().done === true;
  if (!isDone)
    expect(() => new SqliteStore(dataDir, TEST_SCHEMA).open(ID, { onLost: () => undefined })).toThrow(
      /database right now/,
    );
  finishFileChanges(dataDir, (id) => forgotten.push(id));
  return isDone;
}

const STEPS = [0, 1, 2, 3, 4, 5, 6, 7];

it.each(STEPS)('a restart finishes a deletion that was killed after %i steps', (steps) => {
  const dataDir = temporaryFolder();
  const path = databasePath(dataDir, ID);
  create(path, 'old');
  const forgotten: string[] = [];
  const isDone = killAfter(steps, dataDir, { kind: 'delete' }, forgotten);
  expect(readdirSync(join(dataDir, 'databases'))).toEqual([]);
  expect(forgotten[0]).toBe(ID);
  expect(isDone).toBe(steps > 3);
});

it.each(STEPS)('a restart finishes a replacement that was killed after %i steps', async (steps) => {
  const dataDir = temporaryFolder();
  const path = databasePath(dataDir, ID);
  create(path, 'old');
  const staged = incomingPath(dataDir);
  create(`${staged}.new`, 'new');
  restoreDatabase(`${staged}.new`, staged, ID);
  // Damage of the old file must not affect the new one.
  markDamaged(path, 'page-checksum');
  const { identity } = inspectDatabase(staged);
  killAfter(steps, dataDir, { kind: 'install', staged: basename(staged) }, []);
  expect(isFileChanging(path)).toBe(false);
  expect(await damageProblems(path)).toEqual([]);
  expect([nameIn(path), inspectDatabase(path).identity]).toEqual(['new', identity]);
  // The old file is kept under one name only.
  expect(nameIn(`${path}.replaced-1`)).toBe('old');
  expect(existsSync(`${path}.replaced-2`)).toBe(false);
  expect(existsSync(join(dataDir, 'incoming'))).toBe(false);
});

it.each(STEPS)('a restart finishes the unloading of a database that was killed after %i steps', (steps) => {
  const dataDir = temporaryFolder();
  const path = databasePath(dataDir, ID);
  create(path, 'old');
  writeFileSync(`${path}-copied`, 'the record of its copies');
  const mark = {
    ...{ destination: 'elsewhere', generation: 'g', copies: 1, stateSum: '0', sizeBytes: 1 },
    ...{ watermark: 1, lastWriteMs: null, unloadedMs: 1 },
  };
  killAfter(steps, dataDir, { kind: 'unload', mark }, []);
  expect(readUnloadedMark(path)).toEqual(mark);
  expect(readdirSync(join(dataDir, 'databases')).sort()).toEqual(
    ['-copied', '-unloaded'].map((suffix) => basename(path) + suffix),
  );
  expect(() => new SqliteStore(dataDir, TEST_SCHEMA).open(ID, { onLost: () => undefined })).toThrow(
    /database right now/,
  );
});

it.each(STEPS)('a restart finishes the return of an unloaded database that was killed after %i steps', (steps) => {
  const dataDir = temporaryFolder();
  const path = databasePath(dataDir, ID);
  const staged = incomingPath(dataDir);
  create(staged, 'fetched');
  writeFileSync(`${path}-unloaded`, '{}');
  writeFileSync(`${path}-copied`, 'the record of its copies');
  killAfter(steps, dataDir, { kind: 'install', staged: basename(staged), isCopied: true }, []);
  expect([readUnloadedMark(path), existsSync(`${path}-unloaded`), existsSync(`${path}-copied`)]).toEqual([
    ...[null, false, true],
  ]);
  expect(nameIn(path)).toBe('fetched');
});

it.each([
  ['was never copied', '', false],
  ['is being copied for the first time', '-copied.new', true],
  ['was copied', '-copied', true],
  ['is unloaded, and was restored without a record', '-unloaded', true],
])('the deletion of a database that %s is recorded for the backup only if needed', (_, suffix, isRecorded) => {
  const dataDir = temporaryFolder();
  const path = databasePath(dataDir, ID);
  create(path, 'old');
  if (suffix !== '') writeFileSync(path + suffix, 'the record of its copies');
  killAfter(9, dataDir, { kind: 'delete', deletedMs: 7 }, []);
  expect(readdirSync(dirname(path))).toEqual(isRecorded ? [`${basename(path)}-forgotten`] : []);
  if (isRecorded) expect(readFileSync(`${path}-forgotten`, 'utf8')).toBe('7');
});

it('the deletion of a database that was replaced or accepted, and not copied since, is recorded for the backup', () => {
  for (const replace of [false, true]) {
    const dataDir = temporaryFolder();
    const path = databasePath(dataDir, ID);
    create(path, 'old');
    writeFileSync(`${path}-copied`, 'the record of its copies');
    const staged = incomingPath(dataDir);
    create(staged, 'new');
    if (replace) killAfter(9, dataDir, { kind: 'install', staged: basename(staged) }, []);
    else acceptFile(path);
    expect([existsSync(`${path}-copied`), existsSync(`${path}-copied.new`)]).toEqual([false, true]);
    killAfter(9, dataDir, { kind: 'delete' }, []);
    expect(existsSync(`${path}-forgotten`)).toBe(true);
  }
});

it('a restart removes what a killed server was receiving, and a change that was not recorded', () => {
  const dataDir = temporaryFolder();
  const path = databasePath(dataDir, ID);
  create(path, 'old');
  writeFileSync(incomingPath(dataDir), 'half');
  writeFileSync(`${path}-changing.new`, '{"kind":"del');
  finishFileChanges(dataDir, () => undefined);
  expect(existsSync(join(dataDir, 'incoming'))).toBe(false);
  expect(nameIn(path)).toBe('old');
});
