import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Scrubber } from '../store/scrub.ts';
import { writeMissingSums } from '../store/accept-file.ts';
import { copyDatabase } from '../store/copy-database.ts';
import { damageProblems } from '../store/damage-problems.ts';
import { databasePath } from '../store/data-directory.ts';
import { outlineOfFile } from '../store/database-outline.ts';
import { createChecksumFile, damageBeforeOpening } from '../store/file-damage.ts';
import { inspectDatabase } from '../store/inspect-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { verifyPages } from '../store/verify-pages.ts';
import { OpenFile } from '../backup/open-file.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { holdLocks, openBesideSqlite } from './beside-sqlite.ts';
import { readSqliteHeader } from './sqlite-header.ts';
import { SqliteFile } from './sqlite-file.ts';

let folder: string;
let path: string;
let sql: SqliteFile;
beforeEach(() => {
  folder = temporaryFolder();
  path = databasePath(folder, 'database');
  mkdirSync(dirname(path), { recursive: true });
  ({ sql } = openDatabaseFile(path, TEST_SCHEMA));
  write('first');
});
afterEach(() => sql.close());

function write(id: string): void {
  sql.transaction(() => sql.run(`INSERT INTO accounts (id, name) VALUES (?, ?)`, id, id));
}

/**
 * Whether another process can lock the file exclusively. When such a process closes the file, SQLite deletes the log.
 * Only version 3.51 and later prevents this, and the sqlite3 shells of most systems are older.
 */
function isFree(): boolean {
  const script = `const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(new URL(process.argv[1] + '?vfs=unix-excl'));
    try {
      database.exec('BEGIN; SELECT 1 FROM accounts');
      console.log('free');
    } catch (error) {
      console.log(error.errcode);
    }`;
  const { stdout } = spawnSync(process.execPath, ['-e', script, pathToFileURL(path).href], { encoding: 'utf8' });
  expect(['free', '5']).toContain(stdout.trim());
  return stdout.trim() === 'free';
}

/** Whether this process has a lock on the file. */
function isLocked(): boolean {
  const { ino } = statSync(path);
  return readFileSync('/proc/locks', 'utf8').includes(`:${ino} `);
}

/** A file that the continuous backup has opened for reading. */
function captured(): void {
  const nothing = (): void => undefined;
  const reader = new SqliteFile(path);
  const file = new OpenFile(path, reader, { onCommit: nothing, onClosed: nothing, onDamaged: nothing, now: Date.now });
  const capture = file.begin(true);
  capture.read(1);
  capture.end();
  reader.close();
}

async function scrubbed(): Promise<void> {
  const times = { sliceIntervalMs: 0, passIntervalMs: 1_000_000 };
  const scrubber = new Scrubber({ dataDir: folder, onDamaged: () => undefined, onFailure: () => undefined, times });
  await scrubber.pass();
  await scrubber.close();
}

describe.skipIf(process.platform !== 'linux')('the locks of an open database, as listed in /proc/locks,', () => {
  it.each<[string, () => unknown]>([
    ['the comparison of all pages', () => verifyPages(path)],
    ['a scrub', scrubbed],
    ['the header being read', () => readSqliteHeader(path)],
    ['the search for damage', () => damageBeforeOpening(path)],
    ['the search for damage of all pages', () => damageProblems(path)],
    ['the first checksums', () => createChecksumFile(path)],
    ['missing checksums', () => writeMissingSums(path)],
    ['an outline', () => outlineOfFile(path)],
    ['an inspection', () => inspectDatabase(path)],
    ['a copy', () => copyDatabase(path, join(folder, 'copy.sqlite'))],
    ['a capture by the continuous backup, whose connection closes', captured],
  ])('survive %s', async (_, read) => {
    expect(isLocked()).toBe(true);
    await read();
    expect(isLocked()).toBe(true);
  });
});

describe('a descriptor beside SQLite', () => {
  it('leaves the file locked for other processes until the last connection closes', async () => {
    const other = new SqliteFile(path, { readOnly: true });
    await verifyPages(path);
    other.close();
    expect(isFree()).toBe(false);
    sql.close();
    expect(isFree()).toBe(true);
    sql = new SqliteFile(path);
  });

  it('is used again while the file is open', () => {
    const [first, second] = [openBesideSqlite(path), openBesideSqlite(path)];
    first.release();
    first.release();
    // Otherwise the system would reuse the number of the closed descriptor.
    const other = openSync(path, 'r');
    const third = openBesideSqlite(path);
    expect([third.descriptor, other === first.descriptor]).toEqual([first.descriptor, false]);
    for (const { release } of [second, third]) release();
    closeSync(other);
  });

  it('stays open until a reader on another thread releases its locks', () => {
    const release = holdLocks(path);
    const { descriptor, release: end } = openBesideSqlite(path);
    sql.close();
    end();
    expect(fstatSync(descriptor).size).toBeGreaterThan(0);
    release();
    expect(() => fstatSync(descriptor)).toThrow('EBADF');
    sql = new SqliteFile(path);
  });

  it('does not belong to a file that was replaced', () => {
    openBesideSqlite(path).release();
    const { ino } = statSync(path);
    copyDatabase(path, `${path}.new`);
    renameSync(`${path}.new`, path);
    const file = openBesideSqlite(path);
    expect(fstatSync(file.descriptor).ino).not.toBe(ino);
    file.release();
  });
});
