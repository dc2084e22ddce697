import { beforeAll, describe, expect, it } from 'vitest';
import type { StoreMedium } from '../media/medium.ts';
import { openStorage } from '../open-storage.ts';
import { StorageError } from '../storage-error.ts';
import type { Storage } from '../storage.ts';
import { atLevel } from '../../../../tests/kit/level.ts';
import { seededRandom } from '../../testing/crash-images.ts';
import { loadNodeSqlite } from '../../testing/node-sqlite.ts';
import { SimulatedExtents, type BatchOutcome } from '../../testing/simulated-extents.ts';
import { TestConnection, TestSqliteError } from '../../testing/test-connection.ts';
import type { TestModule } from '../../testing/test-connection.ts';

let module: TestModule;

beforeAll(async () => {
  module = await loadNodeSqlite();
});

interface Opened {
  readonly storage: Storage;
  readonly connection: TestConnection;
}

async function open(medium: StoreMedium): Promise<Opened> {
  const storage = await openStorage({ name: 'one', medium, role: 'writer', durability: 'strict' });
  return { storage, connection: new TestConnection(module, storage) };
}

async function close({ storage, connection }: Opened): Promise<void> {
  connection.close();
  await storage.close();
}

async function openWithTable(
  catalog: SimulatedExtents,
): Promise<Opened & { medium: ReturnType<SimulatedExtents['medium']> }> {
  const medium = catalog.medium();
  const opened = await open(medium);
  opened.connection.run(`CREATE TABLE t(id INTEGER PRIMARY KEY, content TEXT); ${INSERT}; ${INSERT}`);
  await opened.storage.committed();
  return { ...opened, medium };
}

/** Waits for one turn of the event loop, so that all promises that depend on no timer or I/O settle. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Resolves when the last batch has reached this outcome and every waiting caller has been notified. */
async function reachesOutcome(catalog: SimulatedExtents, outcome: BatchOutcome): Promise<void> {
  while (catalog.outcomes.at(-1) !== outcome) await turn();
  await turn();
}

const INSERT = "INSERT INTO t(content) VALUES ('x')";
const COUNT = 'SELECT count(*) FROM t';
const FULL = 13;

describe('a commit on an asynchronous medium', () => {
  it('is not acknowledged before committed()', async () => {
    const catalog = new SimulatedExtents();
    const { storage, connection, medium } = await openWithTable(catalog);
    catalog.outcome = () => 'never-ends';
    connection.run(INSERT);
    expect(storage.dirtySinceMs).toBeLessThanOrEqual(Date.now());
    let isAcknowledged = false;
    void storage.committed().then(() => {
      isAcknowledged = true;
    });
    await reachesOutcome(catalog, 'never-ends');
    expect(isAcknowledged).toBe(false);
    expect(() => storage.flush()).toThrow(StorageError);
    medium.kill();
    catalog.outcome = () => 'completes';
    const again = await open(catalog.medium());
    expect(again.connection.value(COUNT)).toBe(2);
    await close(again);
  });

  it('is pending until its own batch has taken effect, not an earlier one', async () => {
    const catalog = new SimulatedExtents();
    const { storage, connection, medium } = await openWithTable(catalog);
    let batches = 0;
    catalog.outcome = () => (++batches === 1 ? 'completes' : 'never-ends');
    connection.run(INSERT);
    const first = storage.committed();
    connection.run(INSERT);
    await first;
    await reachesOutcome(catalog, 'never-ends');
    expect(storage.dirtySinceMs).toBeLessThanOrEqual(Date.now());
    expect(() => storage.flush()).toThrow(StorageError);
    medium.kill();
  });

  it('shares its batch with other commits made while a batch is pending', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    const before = catalog.batches.length;
    for (let count = 0; count < 200; count += 1) opened.connection.run(INSERT);
    await opened.storage.committed();
    expect(catalog.batches.length - before).toBe(2);
    // The first commit was a patch; the other 199 change too many pages for patches.
    expect(catalog.batches.slice(before)).toEqual([0, 1]);
    expect(opened.storage.dirtySinceMs).toBeUndefined();
    await close(opened);
  });

  it('is stored as a patch if it is small, and is kept when extents absorb the patches', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    const { connection, storage } = opened;
    connection.run(
      `INSERT INTO t(content) SELECT printf('%.*c', 900, 'x') FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n)`,
    );
    await storage.committed();
    const before = catalog.batches.length;
    const commits = 1000;
    for (let count = 0; count < commits; count += 1) {
      connection.run(
        `UPDATE t SET content = printf('%.*c', 900, char(${65 + (count % 26)})) WHERE id = ${((count * 37) % 1000) + 1}`,
      );
      await storage.committed();
    }
    const extents = catalog.batches.slice(before);
    expect(extents).toHaveLength(commits);
    const folds = extents.filter((count) => count > 0).length;
    expect(folds).toBeGreaterThan(0);
    expect(folds).toBeLessThan(commits / 100);
    const content = connection.run('SELECT group_concat(content) FROM t');
    await close(opened);
    const again = await open(catalog.medium());
    expect(again.connection.run('SELECT group_concat(content) FROM t')).toEqual(content);
    expect(again.connection.value('PRAGMA integrity_check')).toBe('ok');
    await close(again);
  });

  it('is rejected if it fails, with the commits that build on it, and earlier commits are kept', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    const { connection, storage } = opened;
    catalog.outcome = () => 'aborts';
    connection.run(INSERT);
    const first = storage.committed();
    connection.run('DELETE FROM t');
    const second = storage.committed();
    const outcomes = await Promise.allSettled([first, second]);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'storage-full' } });
    expect(storage.lastError?.code).toBe('storage-full');
    expect(storage.dirtySinceMs).toBeUndefined();
    catalog.outcome = () => 'completes';
    expect(connection.value(COUNT)).toBe(2);
    connection.run(INSERT);
    await storage.committed();
    await close(opened);
    const again = await open(catalog.medium());
    expect(again.connection.run(`PRAGMA integrity_check; ${COUNT}`)).toEqual([[3]]);
    await close(again);
  });

  it('is not rejected for an earlier commit that was undone while no caller waited', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    const { connection, storage } = opened;
    catalog.outcome = () => 'aborts';
    connection.run(INSERT);
    await reachesOutcome(catalog, 'aborts');
    catalog.outcome = () => 'completes';
    connection.run(INSERT);
    await storage.committed();
    expect(connection.value(COUNT)).toBe(3);
    await close(opened);
    const again = await open(catalog.medium());
    expect(again.connection.value(COUNT)).toBe(3);
    await close(again);
  });

  it('that failed while no caller waited makes closing the storage fail', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    catalog.outcome = () => 'aborts';
    opened.connection.run(INSERT);
    await reachesOutcome(catalog, 'aborts');
    opened.connection.close();
    await expect(opened.storage.close()).rejects.toMatchObject({ code: 'storage-full' });
    catalog.outcome = () => 'completes';
    const again = await open(catalog.medium());
    expect(again.connection.value(COUNT)).toBe(2);
    await close(again);
  });

  it('ends a transaction that builds on it if it fails', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    const { connection, storage } = opened;
    catalog.outcome = () => 'aborts';
    connection.run(INSERT);
    const outcome = storage.committed().catch((error: unknown) => error);
    connection.run(`BEGIN; ${INSERT}`);
    expect(await outcome).toMatchObject({ code: 'storage-full' });
    catalog.outcome = () => 'completes';
    expect(() => connection.run('COMMIT')).toThrow(TestSqliteError);
    if (connection.inTransaction) connection.run('ROLLBACK');
    expect(connection.value(COUNT)).toBe(2);
    connection.run(INSERT);
    await storage.committed();
    expect(connection.value(COUNT)).toBe(3);
    await close(opened);
  });
});

describe('the memory budget', () => {
  const ROWS = (count: number): string =>
    `INSERT INTO t(content) SELECT printf('%.*c', 1000, 'x') FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n)`;

  it('fails a transaction that does not fit, with SQLITE_FULL and storage-full, and the database stays usable', async () => {
    const catalog = new SimulatedExtents();
    const opened = await open(catalog.medium(1024 * 1024));
    const { connection, storage } = opened;
    connection.run(`CREATE TABLE t(id INTEGER PRIMARY KEY, content TEXT); ${ROWS(100)}`);
    for (const cache of ['PRAGMA cache_size = 5', 'PRAGMA cache_size = 2000']) {
      connection.run(cache);
      let failure: unknown;
      try {
        connection.run(ROWS(2000));
      } catch (error) {
        failure = error;
      }
      expect(failure).toMatchObject({ resultCode: FULL });
      expect(storage.lastError).toMatchObject({
        code: 'storage-full',
        fields: { limit: 'memory', budgetBytes: 1024 * 1024 },
      });
      expect(connection.value(COUNT)).toBe(100);
    }
    connection.run(ROWS(10));
    await storage.committed();
    expect(connection.run(`PRAGMA integrity_check; ${COUNT}`)).toEqual([[110]]);
    await close(opened);
  });

  it('refuses to open a larger database, which a larger budget can open', async () => {
    const catalog = new SimulatedExtents();
    const opened = await open(catalog.medium());
    opened.connection.run(`CREATE TABLE t(id INTEGER PRIMARY KEY, content TEXT); ${ROWS(1000)}`);
    await close(opened);
    await expect(open(catalog.medium(512 * 1024))).rejects.toMatchObject({
      code: 'storage-full',
      fields: { limit: 'memory' },
    });
    const again = await open(catalog.medium());
    expect(again.connection.value(COUNT)).toBe(1000);
    await close(again);
  });
});

describe('any sequence of commits, aborts and deaths', () => {
  for (let seed = 1; seed <= atLevel({ test: 12, verify: 40 }); seed += 1) {
    it(`loses nothing acknowledged and keeps no partial batch, with seed ${seed} [CT-extents]`, async () => {
      const random = seededRandom(seed);
      const chance = (one: number): boolean => random() < 1 / one;
      const catalog = new SimulatedExtents();
      let medium = catalog.medium();
      let opened = await open(medium);
      opened.connection.run(
        'CREATE TABLE t(number INTEGER PRIMARY KEY, content TEXT); CREATE TABLE twin(number INTEGER PRIMARY KEY)',
      );
      await opened.storage.committed();
      let number = 0;
      let acknowledged: number[] = [];
      // Commits made since the last acknowledgement, in order. A prefix of them may be stored.
      let pending: number[] = [];
      catalog.outcome = () => (chance(6) ? 'aborts' : 'completes');
      const listed = (): number[] =>
        opened.connection.run('SELECT number FROM t ORDER BY number').map((row) => Number(row[0]));
      const expectPrefix = (): void => {
        const found = listed();
        expect(found).toEqual([...acknowledged, ...pending].slice(0, found.length));
        expect(found.length).toBeGreaterThanOrEqual(acknowledged.length);
        expect(opened.connection.value('SELECT count(*) FROM twin')).toBe(found.length);
        expect(opened.connection.value('PRAGMA integrity_check')).toBe('ok');
        acknowledged = found;
        pending = [];
      };
      for (let step = 0; step < 60; step += 1) {
        if (chance(12)) {
          medium.kill();
          medium = catalog.medium();
          opened = await open(medium);
          expectPrefix();
        } else if (chance(10)) {
          opened.connection.run(
            `BEGIN; DELETE FROM t; DELETE FROM twin; ${chance(2) ? 'ROLLBACK' : 'ROLLBACK; VACUUM'}`,
          );
        } else {
          number += 1;
          const contentBytes = chance(4) ? 150_000 : 300;
          opened.connection.run(
            `BEGIN; INSERT INTO t VALUES (${number}, printf('%.*c', ${contentBytes}, 'x')); INSERT INTO twin VALUES (${number}); COMMIT`,
          );
          pending.push(number);
        }
        if (chance(3)) continue;
        const outcome = await opened.storage.committed().catch((error: unknown) => error);
        if (outcome === undefined) {
          acknowledged.push(...pending);
          pending = [];
          expect(listed()).toEqual(acknowledged);
        } else {
          expectPrefix();
        }
      }
      catalog.outcome = () => 'completes';
      // The last batch may already have failed.
      await opened.storage.committed().catch(() => undefined);
      expectPrefix();
      await close(opened);
    });
  }
});
