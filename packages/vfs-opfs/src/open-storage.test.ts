import { beforeAll, describe, expect, it } from 'vitest';
import { memoryMedium } from './media/memory.ts';
import { opfsSharedMedium } from './media/opfs-shared.ts';
import { openStorage } from './open-storage.ts';
import { StorageError } from './storage-error.ts';
import type { StorageErrorCode } from './storage-error.ts';
import { exportFile } from './files/export-file.ts';
import { stageFile } from './files/stage-file.ts';
import { deleteStorage, listStorages, storageSizes } from './files/storage-files.ts';
import type { Storage } from './storage.ts';
import { exportedBytes } from '../testing/exported-bytes.ts';
import { loadNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { TestConnection } from '../testing/test-connection.ts';
import type { TestModule } from '../testing/test-connection.ts';

let module: TestModule;

beforeAll(async () => {
  module = await loadNodeSqlite();
});

async function failure(promise: Promise<unknown>): Promise<StorageError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(StorageError);
  return error as StorageError;
}

async function expectCode(promise: Promise<unknown>, code: StorageErrorCode): Promise<void> {
  expect((await failure(promise)).code).toBe(code);
}

const CREATE = 'CREATE TABLE t(id INTEGER PRIMARY KEY, content TEXT); INSERT INTO t(content) VALUES (1), (2), (3)';

async function create(disk: SimulatedDisk, name: string): Promise<void> {
  const storage = await openStorage({ name, medium: disk.medium(), role: 'writer' });
  const connection = new TestConnection(module, storage);
  connection.run(CREATE);
  connection.close();
  await storage.close();
}

describe('opening', () => {
  it('fails with storage-busy for a second writer until the first one closes', async () => {
    const disk = new SimulatedDisk();
    const first = await openStorage({ name: 'one', medium: disk.medium(), role: 'writer' });
    await expectCode(
      openStorage({ name: 'one', medium: disk.medium(), role: 'writer', timeoutMs: 10 }),
      'storage-busy',
    );
    const waiting = openStorage({ name: 'one', medium: disk.medium(), role: 'writer', timeoutMs: 3000 });
    await first.close();
    await (await waiting).close();
  });

  it('makes a reader wait until a writer creates the database, then fails with storage-missing', async () => {
    const disk = new SimulatedDisk();
    await expectCode(
      openStorage({ name: 'one', medium: disk.medium(), role: 'reader', timeoutMs: 10 }),
      'storage-missing',
    );
    expect(disk.callCount).toBe(0);
    const waiting = openStorage({ name: 'one', medium: disk.medium(), role: 'reader', timeoutMs: 3000 });
    await create(disk, 'one');
    const reader = await waiting;
    const connection = new TestConnection(module, reader);
    expect(connection.value('SELECT count(*) FROM t')).toBe(3);
    connection.close();
    await reader.close();
  });

  it('fails with storage-unsupported and lists what the medium lacks', async () => {
    const error = await failure(openStorage({ name: 'one', medium: opfsSharedMedium(), role: 'writer' }));
    expect(error.code).toBe('storage-unsupported');
    expect(error.fields['missing']).toContain('origin-private file system');
  });

  it('fails with storage-corrupt for a file that is not a database, and leaves it unchanged', async () => {
    const content = new TextEncoder().encode('These are not the pages you are looking for. '.repeat(40));
    const disk = new SimulatedDisk({ files: new Map([['one.sqlite', content]]) });
    await expectCode(openStorage({ name: 'one', medium: disk.medium(), role: 'writer' }), 'storage-corrupt');
    const kept = new Uint8Array(content.length);
    disk.file('one.sqlite')!.read(kept, 0);
    expect(kept).toEqual(content);
    await expectCode(openStorage({ name: 'one', medium: disk.medium(), role: 'writer' }), 'storage-corrupt');
  });

  it('accepts a plain SQLite file of any page size', async () => {
    const origin = new SimulatedDisk();
    await create(origin, 'origin');
    const image = await exportedBytes(await exportFile('origin', origin.medium()));
    const disk = new SimulatedDisk({ files: new Map([['copy.sqlite', image]]) });
    const storage = await openStorage({ name: 'copy', medium: disk.medium(), role: 'writer', pageSizeBytes: 1024 });
    const connection = new TestConnection(module, storage);
    expect(connection.value('PRAGMA page_size')).toBe(8192);
    connection.run("INSERT INTO t(content) VALUES ('more')");
    expect(connection.value('SELECT count(*) FROM t')).toBe(4);
    expect(connection.value('PRAGMA integrity_check')).toBe('ok');
    connection.close();
    await storage.close();
  });

  it('rejects names that cannot be file names', async () => {
    for (const name of ['', '../x', 'a b', 'é', '.hidden', 'x'.repeat(201)]) {
      await expectCode(openStorage({ name, medium: memoryMedium(), role: 'writer' }), 'storage-name-invalid');
    }
  });

  it('reports the persistence of the medium', async () => {
    const storage = await openStorage({ name: 'one', medium: memoryMedium(), role: 'writer' });
    expect(storage.persistence).toBe('memory');
    await storage.close();
  });
});

describe('an open storage', () => {
  it('accepts one connection at a time', async () => {
    const storage = await openStorage({ name: 'one', medium: memoryMedium(), role: 'writer' });
    const connection = new TestConnection(module, storage);
    connection.run(CREATE);
    const SQLITE_BUSY = 5;
    expect(() => new TestConnection(module, storage)).toThrow(expect.objectContaining({ resultCode: SQLITE_BUSY }));
    expect(storage.lastError?.code).toBe('storage-busy');
    await expectCode(storage.close(), 'storage-busy');
    connection.close();
    const again = new TestConnection(module, storage);
    expect(again.value('SELECT count(*) FROM t')).toBe(3);
    again.close();
    await storage.close();
    expect(() => storage.flush()).toThrow(StorageError);
  });

  it('rejects writes of a reader with SQLITE_READONLY, and can be reopened as the writer', async () => {
    const disk = new SimulatedDisk();
    const leader = disk.medium();
    const first = await openStorage({ name: 'one', medium: leader, role: 'writer' });
    new TestConnection(module, first).run(CREATE);
    const follower = disk.medium();
    const reader = await openStorage({ name: 'one', medium: follower, role: 'reader' });
    const readerConnection = new TestConnection(module, reader);
    expect(() => readerConnection.run('DELETE FROM t')).toThrow(/readonly/);
    leader.kill();
    readerConnection.close();
    await reader.close();
    const promoted = await openStorage({ name: 'one', medium: follower, role: 'writer' });
    const connection = new TestConnection(module, promoted);
    connection.run('DELETE FROM t WHERE id = 1');
    expect(connection.value('SELECT count(*) FROM t')).toBe(2);
    connection.close();
    await promoted.close();
  });

  it('reports the time of the oldest unflushed commit under relaxed durability, until it is flushed', async () => {
    const disk = new SimulatedDisk();
    const flushed: string[] = [];
    disk.fault = (call) => {
      if (call.kind === 'flush') flushed.push(call.file);
      return undefined;
    };
    const storage = await openStorage({
      name: 'one',
      medium: disk.medium(),
      role: 'writer',
      tuning: { flushWithinMs: 5 },
    });
    const connection = new TestConnection(module, storage);
    expect(storage.dirtySinceMs).toBeUndefined();
    connection.run(CREATE);
    expect(storage.dirtySinceMs).toBeLessThanOrEqual(Date.now());
    expect(flushed).toEqual([]);
    storage.flush();
    expect(storage.dirtySinceMs).toBeUndefined();
    expect(flushed).toEqual(['one.sqlite-log1']);
    connection.run('DELETE FROM t');
    while (storage.dirtySinceMs !== undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(flushed).toHaveLength(2);
    connection.close();
    await storage.close();
  });

  it('flushes every commit with strict durability', async () => {
    const disk = new SimulatedDisk();
    const storage = await openStorage({ name: 'one', medium: disk.medium(), role: 'writer', durability: 'strict' });
    const connection = new TestConnection(module, storage);
    connection.run('CREATE TABLE t(id INTEGER PRIMARY KEY)');
    let flushes = 0;
    disk.fault = (call) => {
      if (call.kind === 'flush') flushes += 1;
      return undefined;
    };
    for (let id = 1; id <= 5; id += 1) connection.run(`INSERT INTO t VALUES (${id})`);
    expect(flushes).toBe(5);
    expect(storage.dirtySinceMs).toBeUndefined();
    connection.close();
    await storage.close();
  });
});

describe('closing', () => {
  it('copies the log into the database file, or flushes the log and leaves the copy to the next writer', async () => {
    const disk = new SimulatedDisk();
    const written: string[] = [];
    const writeAndClose = async (leavesLog: boolean): Promise<string[]> => {
      const storage = await openStorage({ name: 'one', medium: disk.medium(), role: 'writer' });
      const connection = new TestConnection(module, storage);
      connection.run('CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY); INSERT INTO t DEFAULT VALUES');
      connection.close();
      written.length = 0;
      await storage.close({ leavesLog });
      return [...written];
    };
    disk.fault = ({ kind, file }) => {
      written.push(`${kind} ${file}`);
      return undefined;
    };
    expect(await writeAndClose(true)).toEqual([expect.stringMatching(/^flush one.sqlite-log/)]);
    expect(await writeAndClose(false)).toContain('flush one.sqlite');
    const storage = await openStorage({ name: 'one', medium: disk.medium(), role: 'writer' });
    const connection = new TestConnection(module, storage);
    expect(connection.value('SELECT count(*) FROM t')).toBe(2);
    connection.close();
    await storage.close();
  });
});

describe('the files on a medium', () => {
  it('can be listed, measured and deleted, but not deleted while a writer is open', async () => {
    const disk = new SimulatedDisk();
    const medium = disk.medium();
    await create(disk, 'b');
    await create(disk, 'a');
    expect(await listStorages(medium)).toEqual(['a', 'b']);
    expect((await storageSizes('a', medium))?.databaseBytes).toBe(16384);
    const writer = await openStorage({ name: 'a', medium: disk.medium(), role: 'writer' });
    await expectCode(deleteStorage('a', medium), 'storage-busy');
    await writer.close();
    await deleteStorage('a', medium);
    expect(await listStorages(medium)).toEqual(['b']);
    expect(await storageSizes('a', medium)).toBeUndefined();
  });

  it('are deleted with the staged file of a worker that was killed', async () => {
    const disk = new SimulatedDisk();
    await create(disk, 'source');
    await create(disk, 'a');
    const source = await exportFile('source', disk.medium());
    const { storage } = await stageFile({ name: 'a', medium: disk.medium(), source, sizeBytes: 16_384 });
    expect((await storageSizes('a', disk.medium()))?.stagedBytes).toBe(16_384);
    await storage.close();
    await deleteStorage('a', disk.medium());
    await create(disk, 'a');
    expect((await storageSizes('a', disk.medium()))?.stagedBytes).toBeUndefined();
  });

  it('can be exported while a writer is open, with all commits up to the export', async () => {
    const disk = new SimulatedDisk();
    const writer: Storage = await openStorage({ name: 'one', medium: disk.medium(), role: 'writer' });
    const connection = new TestConnection(module, writer);
    connection.run(`${CREATE}; BEGIN; INSERT INTO t(content) VALUES ('open')`);
    const image = await exportedBytes(await exportFile('one', disk.medium()));
    connection.run('ROLLBACK');
    connection.close();
    await writer.close();
    const copy = await openStorage({
      name: 'copy',
      medium: new SimulatedDisk({ files: new Map([['copy.sqlite', image]]) }).medium(),
      role: 'writer',
    });
    const copied = new TestConnection(module, copy);
    expect(copied.value('SELECT count(*) FROM t')).toBe(3);
    copied.close();
    await copy.close();
  });

  it('cannot be exported when they do not exist', async () => {
    await expectCode(exportFile('none', memoryMedium()), 'storage-missing');
  });
});
