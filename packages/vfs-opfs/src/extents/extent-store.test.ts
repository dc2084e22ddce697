import { beforeAll, describe, expect, it } from 'vitest';
import type { StoreMedium } from '../media/medium.ts';
import { openStorage } from '../open-storage.ts';
import { StorageError } from '../storage-error.ts';
import type { Storage } from '../storage.ts';
import { seededRandom } from '../../testing/crash-images.ts';
import { loadNodeSqlite } from '../../testing/node-sqlite.ts';
import { SimulatedExtents, type BatchFate } from '../../testing/simulated-extents.ts';
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

/** A turn of the event loop: every promise that can be settled is. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Resolves when that has become of the last batch, and everybody who waited for it has heard. */
async function hasCome(catalog: SimulatedExtents, fate: BatchFate): Promise<void> {
  while (catalog.fates.at(-1) !== fate) await turn();
  await turn();
}

const INSERT = "INSERT INTO t(content) VALUES ('x')";
const COUNT = 'SELECT count(*) FROM t';
const FULL = 13;

describe('a commit on a medium that is asynchronous', () => {
  it('is acknowledged by committed() and by nothing before', async () => {
    const catalog = new SimulatedExtents();
    const { storage, connection, medium } = await openWithTable(catalog);
    catalog.fate = () => 'never-ends';
    connection.run(INSERT);
    expect(storage.dirtySinceMs).toBeLessThanOrEqual(Date.now());
    let isAcknowledged = false;
    void storage.committed().then(() => {
      isAcknowledged = true;
    });
    await hasCome(catalog, 'never-ends');
    expect(isAcknowledged).toBe(false);
    expect(() => storage.flush()).toThrow(StorageError);
    medium.kill();
    catalog.fate = () => 'completes';
    const again = await open(catalog.medium());
    expect(again.connection.value(COUNT)).toBe(2);
    await close(again);
  });

  it('shares its batch with the commits that come while one is under way', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    const before = catalog.batches.length;
    for (let count = 0; count < 200; count += 1) opened.connection.run(INSERT);
    await opened.storage.committed();
    expect(catalog.batches.length - before).toBe(2);
    // The first was a patch; 199 pages of changes are more than an extent is worth.
    expect(catalog.batches.slice(before)).toEqual([0, 1]);
    expect(opened.storage.dirtySinceMs).toBeUndefined();
    await close(opened);
  });

  it('that is small is stored as a patch; now and then extents take the patches in, and nothing is lost by it', async () => {
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

  it('that fails rejects, takes the commits on top of it along, and leaves what was there before', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    const { connection, storage } = opened;
    catalog.fate = () => 'aborts';
    connection.run(INSERT);
    const first = storage.committed();
    connection.run('DELETE FROM t');
    const second = storage.committed();
    const outcomes = await Promise.allSettled([first, second]);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'storage-full' } });
    expect(storage.lastError?.code).toBe('storage-full');
    expect(storage.dirtySinceMs).toBeUndefined();
    catalog.fate = () => 'completes';
    expect(connection.value(COUNT)).toBe(2);
    connection.run(INSERT);
    await storage.committed();
    await close(opened);
    const again = await open(catalog.medium());
    expect(again.connection.run(`PRAGMA integrity_check; ${COUNT}`)).toEqual([[3]]);
    await close(again);
  });

  it('that fails unheard is told to the next who asks, also on closing', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    catalog.fate = () => 'aborts';
    opened.connection.run(INSERT);
    await hasCome(catalog, 'aborts');
    opened.connection.close();
    await expect(opened.storage.close()).rejects.toMatchObject({ code: 'storage-full' });
    catalog.fate = () => 'completes';
    const again = await open(catalog.medium());
    expect(again.connection.value(COUNT)).toBe(2);
    await close(again);
  });

  it('that fails ends a transaction that was begun on top of it', async () => {
    const catalog = new SimulatedExtents();
    const opened = await openWithTable(catalog);
    const { connection, storage } = opened;
    catalog.fate = () => 'aborts';
    connection.run(INSERT);
    const outcome = storage.committed().catch((error: unknown) => error);
    connection.run(`BEGIN; ${INSERT}`);
    expect(await outcome).toMatchObject({ code: 'storage-full' });
    catalog.fate = () => 'completes';
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

  it('fails a transaction that does not fit, with SQLITE_FULL and storage-full, and the storage goes on', async () => {
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

  it('refuses to open what is larger, and leaves it for a larger budget', async () => {
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

describe('any history of commits, aborts and deaths', () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    it(`loses nothing acknowledged and keeps nothing half, with seed ${seed}`, async () => {
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
      // Commits made since the last acknowledgement, in order: a prefix of them may be there.
      let pending: number[] = [];
      catalog.fate = () => (chance(6) ? 'aborts' : 'completes');
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
      catalog.fate = () => 'completes';
      // The last batch may have met its fate already.
      await opened.storage.committed().catch(() => undefined);
      expectPrefix();
      await close(opened);
    });
  }
});
