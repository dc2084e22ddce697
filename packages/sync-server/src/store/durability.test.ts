import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeLogSync } from '../../testing/fake-log-sync.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { openDatabaseFile } from './database-file.ts';
import { durableOnceSynced, type OpenDatabase } from './durability.ts';
import { LogSync } from './log-sync.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
let path: string;
let disk: FakeLogSync;
let conflicts: unknown[];
let database: OpenDatabase;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'a.sqlite');
  disk = new FakeLogSync();
  conflicts = [];
  database = durableOnceSynced(openDatabaseFile(path, TEST_SCHEMA), disk, (error) => void conflicts.push(error));
});
afterEach(() => {
  database.close();
});

async function insert(id: string): Promise<void> {
  await database.commit(() => database.file.sql.run('INSERT INTO notes (id, reads) VALUES (?, 0)', id));
}

describe('a commit in a file', () => {
  it('resolves when the log is synced, and until then the file counts as not durable', async () => {
    expect(database.settling()).toBeNull();
    const done: string[] = [];
    const first = insert('a').then(() => done.push('a'));
    const second = insert('b').then(() => done.push('b'));
    const settled = database.settling();
    expect(settled).not.toBeNull();
    await disk.finishNext();
    await first;
    expect(done).toEqual(['a']);
    expect(database.settling()).toBe(settled);
    await disk.finishNext();
    await second;
    await settled;
    expect(database.settling()).toBeNull();
  });

  it('is rejected with all later commits if the disk fails, and the failure is reported once', async () => {
    const outcomes = Promise.allSettled([insert('a'), insert('b'), database.settling()]);
    const failure = new Error('EIO');
    await disk.failNext(failure);
    await disk.finishNext();
    const refused = expect.objectContaining({
      status: 'rejected',
      reason: expect.objectContaining({ code: 'database-unavailable', cause: failure }) as unknown,
    }) as unknown;
    expect(await outcomes).toEqual([refused, refused, refused]);
    expect(await Promise.allSettled([insert('c')])).toEqual([refused]);
    expect(conflicts).toEqual([failure]);
    // A caller that only checks whether the database is idle does not wait for the commit.
    expect(database.settling()).not.toBeNull();
    const asked = await Promise.allSettled([database.settling()]);
    expect(asked).toMatchObject([{ status: 'rejected', reason: { code: 'database-unavailable' } }]);
  });
});

describe('a WAL checkpoint', () => {
  let events: string[];
  const nothing = (): void => undefined;
  const inTwoTasks = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

  beforeEach(() => {
    events = [];
    const watcher = { onCommit: nothing, onClosing: nothing, onClosed: nothing };
    database.file.sql.watch({ ...watcher, onCheckpoint: () => void events.push('checkpoint') });
  });

  /** A commit that makes the log long. */
  async function insertMany(): Promise<void> {
    await database.commit(() => {
      for (let i = 0; i < 700; i++)
        database.file.sql.run('INSERT INTO notes (id, reads, title) VALUES (?, 0, ?)', `n${i}`, 'x'.repeat(7_000));
    });
    events.push('committed');
  }

  it('follows the commit that made the log long, once that is durable and has resolved', async () => {
    const committing = insertMany();
    await inTwoTasks();
    expect(events).toEqual([]);
    await disk.finishNext();
    await committing;
    await inTwoTasks();
    expect(events).toEqual(['committed', 'checkpoint']);
  });

  it('does not follow a commit that did not become durable', async () => {
    const committing = Promise.allSettled([insertMany()]);
    await disk.failNext(new Error('EIO'));
    await committing;
    await inTwoTasks();
    expect(events).toEqual([]);
  });

  it('that finds the log damaged fails the next commit, and each one after it', async () => {
    const committing = insertMany();
    const log = openSync(`${path}-wal`, 'r+');
    writeSync(log, 'damaged', 500_000);
    closeSync(log);
    await disk.finishNext();
    await committing;
    await inTwoTasks();
    const damaged = expect.objectContaining({ code: 'database-damaged' }) as unknown;
    await expect(insert('a')).rejects.toThrow(damaged);
    await expect(insert('b')).rejects.toThrow(damaged);
    expect(() => database.close()).toThrow(damaged);
    expect(disk.isClosed).toBe(true);
    database = durableOnceSynced(openDatabaseFile(join(folder, 'b.sqlite'), TEST_SCHEMA), disk, nothing);
  });

  it('runs when a file is closed right after the commit', async () => {
    const committing = insertMany();
    await Promise.all([disk.finishNext(), committing.then(() => database.close())]);
    await inTwoTasks();
    expect(events).toEqual(['committed', 'checkpoint']);
    database = durableOnceSynced(openDatabaseFile(path, TEST_SCHEMA), disk, nothing);
  });
});

describe('the later of two commits in flight', () => {
  it('is durable only together with the earlier one, whichever sync finishes first', async () => {
    const outcomes = Promise.allSettled([insert('a'), insert('b')]);
    let isDone = false;
    void database.settling()?.then(
      () => (isDone = true),
      () => undefined,
    );
    await disk.finishLast();
    expect(isDone).toBe(false);
    await disk.failNext(new Error('EIO'));
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('the log of a file', () => {
  it('is synced through a second descriptor, and can be closed during a sync', async () => {
    const file = new SqliteFile(join(folder, 'b.sqlite'));
    file.exec('CREATE TABLE t (x)');
    const log = new LogSync(join(folder, 'b.sqlite'));
    const syncing = Promise.all([log.sync(), log.sync()]);
    log.close();
    await syncing;
    await expect(log.sync()).rejects.toMatchObject({ code: 'EBADF' });
    file.close();
  });
});
