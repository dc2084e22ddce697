import { beforeAll, describe, expect, it } from 'vitest';
import type { Role } from './storage.ts';
import { newNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { TestSqliteError } from '../testing/test-connection.ts';
import type { TestModule } from '../testing/test-connection.ts';
import { COUNT, CREATE, INSERT, closeWorker, fill, openTestWorker } from '../testing/test-worker.ts';
import type { TestWorker } from '../testing/test-worker.ts';
import type { Tuning } from './tuning.ts';

let modules: TestModule[] = [];

beforeAll(async () => {
  modules = await Promise.all([newNodeSqlite(), newNodeSqlite(), newNodeSqlite()]);
});

function openWorker(
  disk: SimulatedDisk,
  role: Role,
  moduleIndex: number,
  tuning: Partial<Tuning> = {},
): Promise<TestWorker> {
  return openTestWorker(disk, role, modules[moduleIndex]!, tuning);
}

describe('readers while a writer is open', () => {
  it('see every commit at the start of their next read transaction, across segments', async () => {
    const disk = new SimulatedDisk();
    const writer = await openWorker(disk, 'writer', 0);
    writer.connection.run(CREATE);
    const readers = [await openWorker(disk, 'reader', 1), await openWorker(disk, 'reader', 2)];
    for (let count = 1; count <= 300; count += 1) {
      writer.connection.run(INSERT);
      const reader = readers[count % 2]!;
      expect(reader.connection.value(COUNT)).toBe(count);
      if (count % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    for (const reader of readers) expect(reader.connection.value('PRAGMA integrity_check')).toBe('ok');
    expect(writer.storage.lastError).toBeUndefined();
    expect(disk.file('shared.sqlite')!.sizeBytes).toBeGreaterThan(50_000);
    for (const worker of [...readers, writer]) await closeWorker(worker);
  });

  it('see a transaction of many records completely or not at all, even while it is being written', async () => {
    const disk = new SimulatedDisk();
    const writer = await openWorker(disk, 'writer', 0);
    writer.connection.run(CREATE);
    const reader = await openWorker(disk, 'reader', 1);
    const seen = new Set<unknown>();
    disk.observer = () => {
      seen.add(reader.connection.value(COUNT));
    };
    fill(writer.connection, 500);
    await writer.storage.checkpoint();
    fill(writer.connection, 500);
    await writer.storage.checkpoint();
    disk.observer = undefined;
    expect([...seen]).toEqual([0, 500, 1000]);
    expect(reader.connection.value('PRAGMA integrity_check')).toBe('ok');
    for (const worker of [reader, writer]) await closeWorker(worker);
  });

  it('keep their snapshot while a read transaction is open, and hold off the WAL checkpoint', async () => {
    const disk = new SimulatedDisk();
    const writer = await openWorker(disk, 'writer', 0);
    writer.connection.run(CREATE);
    fill(writer.connection, 600);
    const reader = await openWorker(disk, 'reader', 1);
    reader.connection.run('PRAGMA cache_size = 5');
    const statement = reader.connection.prepare('SELECT id FROM entry');
    expect(statement.step()).toEqual([1]);
    writer.connection.run('DELETE FROM entry WHERE id % 2 = 0');
    fill(writer.connection, 600);
    expect(await writer.storage.checkpoint(20)).toBe(false);
    let count = 1;
    while (statement.step() !== undefined) count += 1;
    statement.finalize();
    expect(count).toBe(600);
    expect(reader.connection.value(COUNT)).toBe(900);
    expect(await writer.storage.checkpoint(1000)).toBe(true);
    expect(reader.connection.value(COUNT)).toBe(900);
    for (const worker of [reader, writer]) await closeWorker(worker);
  });

  it('do not hold off the WAL checkpoint while they are idle', async () => {
    const disk = new SimulatedDisk();
    const writer = await openWorker(disk, 'writer', 0);
    writer.connection.run(CREATE);
    const reader = await openWorker(disk, 'reader', 1);
    expect(reader.connection.value(COUNT)).toBe(0);
    for (let round = 1; round <= 5; round += 1) {
      fill(writer.connection, 20);
      expect(await writer.storage.checkpoint(1000)).toBe(true);
    }
    expect(reader.connection.value(COUNT)).toBe(100);
    for (const worker of [reader, writer]) await closeWorker(worker);
  });

  it('must read again after sleeping in a read transaction past the log limit, and never receive a wrong page', async () => {
    const disk = new SimulatedDisk();
    const writer = await openWorker(disk, 'writer', 0, { logLimitBytes: 64 * 1024 });
    writer.connection.run(CREATE);
    fill(writer.connection, 3000);
    // Otherwise it depends on the speed of the machine which generation the reader reads.
    expect(await writer.storage.checkpoint(1000)).toBe(true);
    const reader = await openWorker(disk, 'reader', 1);
    reader.connection.run('PRAGMA cache_size = 5');
    const statement = reader.connection.prepare('SELECT id, length(content) FROM entry');
    expect(statement.step()).toEqual([1, 300]);
    reader.medium.freeze(true);
    writer.connection.run("UPDATE entry SET content = 'short'");
    fill(writer.connection, 600);
    expect(await writer.storage.checkpoint(30)).toBe(true);
    reader.medium.freeze(false);
    let failure: unknown;
    try {
      for (let row = statement.step(); row !== undefined; row = statement.step()) expect(row[1]).toBe(300);
    } catch (error) {
      failure = error;
    }
    statement.finalize();
    expect(failure).toBeInstanceOf(TestSqliteError);
    expect((failure as TestSqliteError).resultCode & 0xff).toBe(5);
    expect(reader.storage.lastError?.code).toBe('storage-snapshot-lost');
    expect(reader.connection.value(COUNT)).toBe(3600);
    expect(reader.connection.value('PRAGMA integrity_check')).toBe('ok');
    for (const worker of [reader, writer]) await closeWorker(worker);
  });

  it('see the latest commit after being frozen while idle, however often the segments were reused', async () => {
    const disk = new SimulatedDisk();
    const writer = await openWorker(disk, 'writer', 0, { logLimitBytes: 0 });
    writer.connection.run(CREATE);
    fill(writer.connection, 50);
    const reader = await openWorker(disk, 'reader', 1);
    expect(reader.connection.value(COUNT)).toBe(50);
    reader.medium.freeze(true);
    for (let round = 0; round < 7; round += 1) {
      fill(writer.connection, 50);
      writer.connection.run('DELETE FROM entry WHERE id <= (SELECT min(id) + 9 FROM entry)');
      expect(await writer.storage.checkpoint(5)).toBe(true);
    }
    reader.medium.freeze(false);
    expect(reader.connection.value(COUNT)).toBe(330);
    expect(reader.connection.value('PRAGMA integrity_check')).toBe('ok');
    for (const worker of [reader, writer]) await closeWorker(worker);
  });
});

describe('a writer that dies', () => {
  it('is followed by a writer that continues the log, while a reader stays open', async () => {
    const disk = new SimulatedDisk();
    let writer = await openWorker(disk, 'writer', 0);
    writer.connection.run(CREATE);
    const reader = await openWorker(disk, 'reader', 1);
    let committed = 0;
    for (let death = 0; death < 40; death += 1) {
      let callsLeft = 1 + (death % 9);
      disk.fault = () => {
        callsLeft -= 1;
        if (callsLeft < 0) writer.medium.kill();
        return undefined;
      };
      try {
        for (;;) {
          fill(writer.connection, 1 + (death % 3) * 20);
          committed = Number(writer.connection.value('SELECT max(id) FROM entry'));
          await new Promise((resolve) => setTimeout(resolve, 0));
        }
      } catch {
        // The worker died in the middle.
      }
      disk.fault = undefined;
      writer.connection.close();
      expect(Number(reader.connection.value('SELECT max(id) FROM entry'))).toBe(committed);
      writer = await openWorker(disk, 'writer', 0);
      expect(Number(writer.connection.value('SELECT max(id) FROM entry'))).toBe(committed);
      writer.connection.run(INSERT);
      committed += 1;
      expect(reader.connection.value('SELECT max(id) FROM entry')).toBe(committed);
    }
    expect(reader.connection.value('PRAGMA integrity_check')).toBe('ok');
    for (const worker of [reader, writer]) await closeWorker(worker);
  });
});
