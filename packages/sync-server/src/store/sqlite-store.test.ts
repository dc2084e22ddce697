import { copyFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, DEFAULT_DOCUMENT_RULE } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { FakeLogSync } from '../../testing/fake-log-sync.ts';
import { column, ENTRIES, TEST_SCHEMA, TEST_TABLES } from '../../testing/test-schema.ts';
import { PageSums } from '../sqlite/page-sums.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { pagesInLog } from '../sqlite/wal-frames.ts';
import { databasePath, databasesDirectory } from './data-directory.ts';
import { beginFileChange, finishFileChange } from './file-change.ts';
import { isTruncated } from './file-damage.ts';
import { storeContract } from './store.contract.ts';
import { SqliteStore } from './sqlite-store.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

storeContract('SQLite', async () => {
  const folder = temporaryFolder();
  return { open: (schema) => new SqliteStore(folder, schema), close: async () => undefined };
});

/** A folder with the files of a server that was killed before its commit was durable. */
async function killedServer(): Promise<string> {
  const [killed, next] = [temporaryFolder(), temporaryFolder()];
  const database = new SqliteStore(killed, TEST_SCHEMA).open('a', events);
  const committing = database.commit(() => database.file.sql.run(`INSERT INTO notes (id, reads) VALUES ('n', 0)`));
  databasesDirectory(next);
  for (const suffix of ['', '-wal', '-sums'])
    copyFileSync(databasePath(killed, 'a') + suffix, databasePath(next, 'a') + suffix);
  await committing;
  database.close();
  return next;
}

const events = { onLost: (error: unknown) => expect.unreachable(String(error)) };

it('the SQLite store opens no database with an unfinished change of its files', () => {
  const folder = temporaryFolder();
  const store = new SqliteStore(folder, TEST_SCHEMA);
  store.open('a', events).close();
  beginFileChange(folder, 'a', { kind: 'delete', deletedMs: 0 });
  expect(() => store.open('a', events)).toThrow(expect.objectContaining({ code: 'database-unavailable' }) as Error);
  finishFileChange(folder, 'a', () => undefined);
  store.open('a', events).close();
});

it('the SQLite store reads a file that cannot have the schema only once, until the file changes', () => {
  const folder = temporaryFolder();
  const opened = new SqliteStore(folder, TEST_SCHEMA).open('a', events);
  opened.file.sql.run(`INSERT INTO entries (id, amount, note) VALUES ('e', 1, 'low tide')`);
  opened.close();
  const path = databasePath(folder, 'a');
  const documents = [{ ...DEFAULT_DOCUMENT_RULE, column: 'note' }];
  const store = new SqliteStore(
    folder,
    buildSchema(TEST_TABLES.map((one) => (one === ENTRIES ? { ...one, merge: { ...one.merge, documents } } : one))),
  );
  const open = (): void => store.open('a', events).close();
  const refused = expect.objectContaining({ code: 'schema-incompatible' }) as Error;
  utimesSync(path, 1000, 1000);
  expect(open).toThrow(refused);
  const file = new SqliteFile(path);
  file.exec('UPDATE entries SET note = NULL');
  file.close();
  // With the old time, the file looks unchanged.
  utimesSync(path, 1000, 1000);
  expect(open).toThrow(refused);
  utimesSync(path, 2000, 2000);
  open();
});

it('the SQLite store tries again to change a file for a schema if SQLite failed to', () => {
  const folder = temporaryFolder();
  const opened = new SqliteStore(folder, TEST_SCHEMA).open('a', events);
  opened.file.sql.run("INSERT INTO entries (id, amount) VALUES ('e', 1)");
  opened.close();
  const path = databasePath(folder, 'a');
  const seed = column('seed', 'integer', { notNull: true, defaultSql: 'random()' });
  const withSeed = TEST_TABLES.map((one) => (one === ENTRIES ? { ...one, columns: [...one.columns, seed] } : one));
  const store = new SqliteStore(folder, buildSchema(withSeed));
  utimesSync(path, 1000, 1000);
  expect(() => store.open('a', events)).toThrow(expect.objectContaining({ code: 'schema-incompatible' }) as Error);
  const file = new SqliteFile(path);
  file.exec('DELETE FROM entries');
  file.close();
  // With the old time, the file looks unchanged.
  utimesSync(path, 1000, 1000);
  store.open('a', events).close();
});

describe('the SQLite store: the log of a killed server', () => {
  it('counts as a commit in flight until it is durable', async () => {
    const disk = new FakeLogSync();
    const store = new SqliteStore(await killedServer(), TEST_SCHEMA, { openLogSync: () => disk });
    const again = store.open('a', events);
    const settling = again.settling();
    expect(settling).not.toBeNull();
    const commit = again.commit(() => again.file.sql.run(`INSERT INTO notes (id, reads) VALUES ('later', 0)`));
    await disk.finishLast();
    expect(again.settling()).not.toBeNull();
    await disk.finishNext();
    await Promise.all([settling, commit]);
    expect(again.settling()).toBeNull();
    expect(again.file.sql.all('SELECT id FROM notes ORDER BY id')).toEqual([['later'], ['n']]);
    again.close();
  });

  it('makes the database unavailable if the disk fails', async () => {
    const disk = new FakeLogSync();
    const lost: unknown[] = [];
    const store = new SqliteStore(await killedServer(), TEST_SCHEMA, { openLogSync: () => disk });
    const again = store.open('a', { onLost: (error) => void lost.push(error) });
    const settling = again.settling()?.catch((error: unknown) => error);
    await disk.failNext(new Error('EIO'));
    expect(await settling).toMatchObject({ code: 'database-unavailable' });
    expect(lost).toHaveLength(1);
    await expect(again.commit(() => undefined)).rejects.toMatchObject({ code: 'database-unavailable' });
    again.close();
  });

  it('is written again after the disk has failed: a later sync may succeed without writing', async () => {
    const disk = new FakeLogSync();
    const [folder, kept] = [await killedServer(), temporaryFolder()];
    const path = databasePath(folder, 'a');
    for (const suffix of ['', '-wal', '-sums']) copyFileSync(path + suffix, join(kept, `a${suffix}`));
    const store = new SqliteStore(folder, TEST_SCHEMA, { openLogSync: () => disk });
    const first = store.open('a', { onLost: () => undefined });
    const settling = first.settling()?.catch(() => undefined);
    await disk.failNext(new Error('EIO'));
    await settling;
    first.close();
    // Simulates a file whose log could not be moved when it was closed.
    for (const suffix of ['', '-wal', '-sums']) copyFileSync(join(kept, `a${suffix}`), path + suffix);
    const again = store.open('a', events);
    const withoutLog = join(folder, 'without-log.sqlite');
    copyFileSync(path, withoutLog);
    const left = new SqliteFile(withoutLog, { readOnly: true });
    expect(left.all('SELECT id FROM notes')).toEqual([['n']]);
    left.close();
    await disk.finishNext();
    again.close();
  });

  it('may hold the end of a file that a checkpoint was extending', async () => {
    const folder = await killedServer();
    const path = databasePath(folder, 'a');
    const last = Math.max(...pagesInLog(path));
    expect(statSync(path).size).toBeLessThan(last * 4096);
    // The checkpoint had written the checksums but no page.
    const sums = PageSums.open(path, 4096);
    sums.write(new Map([[last, 1]]));
    expect(isTruncated(path)).toBe(false);
    sums.write(new Map([[last + 1, 1]]));
    sums.close();
    expect(() => new SqliteStore(folder, TEST_SCHEMA).open('a', events)).toThrow(
      expect.objectContaining({ fields: { problem: 'truncated' } }),
    );
  });
});
