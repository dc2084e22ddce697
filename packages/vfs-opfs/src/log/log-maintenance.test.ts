import { beforeAll, describe, expect, it } from 'vitest';
import { openFiles } from '../open-files.ts';
import { openStorage } from '../open-storage.ts';
import type { Storage } from '../storage.ts';
import { loadNodeSqlite } from '../../testing/node-sqlite.ts';
import { SimulatedDisk } from '../../testing/simulated-disk.ts';
import { TestConnection } from '../../testing/test-connection.ts';
import type { TestModule } from '../../testing/test-connection.ts';
import type { Tuning } from '../tuning.ts';
import { readLog } from './recovery.ts';

const CHECKPOINT_AFTER_BYTES = 64 * 1024;
const LONG_TRANSACTION = `INSERT INTO t(content) SELECT randomblob(8000) FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12))`;

let module: TestModule;

beforeAll(async () => {
  module = await loadNodeSqlite();
});

/** Length of the log that the next tab to open the database would have to read. */
async function logBytes(disk: SimulatedDisk): Promise<number> {
  const files = (await openFiles(disk.medium(), 'one', false))!;
  const log = readLog(files.segments);
  files.close();
  return (log?.active?.end ?? 0) + (log?.sealed?.end ?? 0);
}

async function untilShort(disk: SimulatedDisk): Promise<void> {
  while ((await logBytes(disk)) >= CHECKPOINT_AFTER_BYTES) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Opens, runs `transactions` without a pause between them, and calls `then` before closing. */
async function write(
  disk: SimulatedDisk,
  tuning: Partial<Tuning>,
  transactions: readonly string[],
  then: (storage: Storage, connection: TestConnection) => Promise<void>,
): Promise<void> {
  const storage = await openStorage({ name: 'one', medium: disk.medium(), role: 'writer', tuning });
  const connection = new TestConnection(module, storage);
  for (const sql of transactions) connection.run(sql);
  await then(storage, connection);
  connection.close();
  await storage.close({ leavesLog: true });
}

describe('a long log', () => {
  it('is shortened without another commit, even if it grew during a copy', async () => {
    const disk = new SimulatedDisk();
    const tuning = { checkpointAfterBytes: CHECKPOINT_AFTER_BYTES };
    await write(
      disk,
      tuning,
      ['CREATE TABLE t(id INTEGER PRIMARY KEY, content BLOB)', LONG_TRANSACTION, LONG_TRANSACTION],
      () => untilShort(disk),
    );
    expect(await logBytes(disk)).toBeLessThan(CHECKPOINT_AFTER_BYTES);
  });

  it('is shortened, without a write or a loss, when a database is opened', async () => {
    const disk = new SimulatedDisk();
    const never = { checkpointAfterBytes: Infinity };
    await write(
      disk,
      never,
      ['CREATE TABLE t(id INTEGER PRIMARY KEY, content BLOB)', LONG_TRANSACTION, LONG_TRANSACTION],
      () => Promise.resolve(),
    );
    expect(await logBytes(disk)).toBeGreaterThan(CHECKPOINT_AFTER_BYTES);
    await write(disk, { checkpointAfterBytes: CHECKPOINT_AFTER_BYTES, flushWithinMs: 1 }, [], () => untilShort(disk));
    const storage = await openStorage({ name: 'one', medium: disk.medium(), role: 'reader' });
    const connection = new TestConnection(module, storage);
    expect(connection.value('SELECT count(*) FROM t')).toBe(24);
    expect(connection.value('PRAGMA integrity_check')).toBe('ok');
    connection.close();
    await storage.close();
  });

  it('is copied on closing, even after an import of many megabytes', async () => {
    const disk = new SimulatedDisk();
    const storage = await openStorage({
      name: 'one',
      medium: disk.medium(),
      role: 'writer',
      tuning: { checkpointAfterBytes: Infinity },
    });
    const connection = new TestConnection(module, storage);
    connection.run(
      'CREATE TABLE t(id INTEGER PRIMARY KEY, content BLOB); INSERT INTO t(content) VALUES (zeroblob(20000000))',
    );
    expect(await logBytes(disk)).toBeGreaterThan(20_000_000);
    connection.close();
    await storage.close();
    expect(await logBytes(disk)).toBeLessThan(CHECKPOINT_AFTER_BYTES);
  });
});

it('a log releases the space of a huge transaction once its segments are used again', async () => {
  const disk = new SimulatedDisk();
  const tuning = { checkpointAfterBytes: CHECKPOINT_AFTER_BYTES, segmentGrowthBytes: CHECKPOINT_AFTER_BYTES };
  const logFileBytes = (): number[] =>
    ['one.sqlite-log0', 'one.sqlite-log1'].map((name) => disk.file(name)?.sizeBytes ?? 0);
  await write(disk, tuning, ['CREATE TABLE t(content BLOB)'], async (storage, connection) => {
    connection.run('INSERT INTO t VALUES (randomblob(2000000))');
    expect(Math.max(...logFileBytes())).toBeGreaterThan(2_000_000);
    for (let turn = 0; turn < 3; turn++) {
      connection.run('INSERT INTO t VALUES (1)');
      await storage.checkpoint();
    }
    expect(Math.max(...logFileBytes())).toBeLessThan(4 * CHECKPOINT_AFTER_BYTES);
  });
});

it('is flushed again after a failed flush, whether a timer or a caller started the flush', async () => {
  const disk = new SimulatedDisk();
  await write(disk, { flushWithinMs: 1 }, ['CREATE TABLE t(id INTEGER PRIMARY KEY)'], async (storage) => {
    disk.fault = ({ kind }) => (kind === 'flush' ? 'lost' : undefined);
    expect(() => storage.flush()).toThrow('storage-lost');
    expect(storage.dirtySinceMs).toBeDefined();
    disk.fault = undefined;
    while (storage.dirtySinceMs !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

it.each([
  ['in the active segment', Infinity, ['one.sqlite-log1']],
  ['in a sealed segment', CHECKPOINT_AFTER_BYTES, ['one.sqlite-log1', 'one.sqlite-log0']],
])(
  'commits of a killed writer %s count as unflushed, and are flushed without another commit',
  async (_, limit, segments) => {
    const disk = new SimulatedDisk();
    const medium = disk.medium();
    const tuning = { checkpointAfterBytes: limit, flushWithinMs: Infinity };
    const connection = new TestConnection(module, await openStorage({ name: 'one', medium, role: 'writer', tuning }));
    connection.run('CREATE TABLE t(id INTEGER PRIMARY KEY, content BLOB)');
    connection.run(LONG_TRANSACTION);
    medium.kill();
    const flushed = new Set<string>();
    disk.fault = ({ kind, file }) => void (kind === 'flush' && flushed.add(file));
    await write(disk, { checkpointAfterBytes: Infinity, flushWithinMs: 5 }, [], async (storage) => {
      expect(storage.dirtySinceMs).toBeDefined();
      while (storage.dirtySinceMs !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      expect([...flushed]).toEqual(expect.arrayContaining(segments));
    });
  },
);
