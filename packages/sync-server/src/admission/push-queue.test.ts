import { join } from 'node:path';
import { FIRST_PREVIOUS_HASH, RockpoolError } from '@rockpool/shared';
import { encodeDocumentCell } from '@rockpool/shared/document';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DocumentPool } from '../documents/document-pool.ts';
import { RETENTION } from '../log/retention.ts';
import { foreignKeyChecks } from '../merge/foreign-keys.ts';
import { openDatabaseFile, type DatabaseFile } from '../store/database-file.ts';
import { durableInFile, type OpenDatabase } from '../store/durability.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { insert, toChangeset, withAges, type Change } from '../../testing/changeset.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import type { WaitingPush } from './admit-pushes.ts';
import { FailedChangesets } from './failed-changesets.ts';
import { PushQueue } from './push-queue.ts';
import { QUOTAS, UNLIMITED_ROOM } from './quotas.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
let file: DatabaseFile;
let beside: SqliteFile;
let commits: ReadonlySet<string>[];
let failures: unknown[];
let queue: PushQueue;
let onCommitted: () => void;

beforeEach(() => {
  folder = temporaryFolder();
  const path = join(folder, 'a.sqlite');
  file = openDatabaseFile(path, TEST_SCHEMA);
  beside = new SqliteFile(path);
  commits = [];
  failures = [];
  onCommitted = () => undefined;
  queue = queueOver(durableInFile(file));
});
afterEach(() => {
  void queue.drainAll();
  beside.close();
  file.sql.close();
});

function queueOver(database: OpenDatabase, turnMs?: number): PushQueue {
  return new PushQueue({
    database,
    rules: {
      checks: foreignKeyChecks(file.tableByName),
      retention: RETENTION,
      quotas: QUOTAS,
      room: UNLIMITED_ROOM,
      validate: null,
      turnMs,
    },
    onCommitted: (authors) => {
      commits.push(authors);
      onCommitted();
      return 0;
    },
    onFailure: (error) => void failures.push(error),
  });
}

function pushOf(site: number, name = `account ${site}`): WaitingPush {
  return pushWith(site, insert('accounts', `k${site}`, { name }));
}

function pushWith(site: number, change: Change): WaitingPush {
  const changesets = [toChangeset(1, 5, 0, [change])];
  return {
    site: site.toString(16).padStart(32, '0'),
    push: {
      type: 'push',
      previousHash: FIRST_PREVIOUS_HASH,
      olderEpochUpTo: 0,
      changesets: withAges(changesets, 1000),
    },
    sender: { principal: 'ann', receivedMs: 1000, isForeign: false },
  };
}

function settled(waiting: WaitingPush): Promise<RockpoolError | null> {
  return new Promise((resolve) => queue.push(waiting, resolve));
}

const storedBeside = (): unknown => beside.get('SELECT count(*) FROM rockpool_log')?.[0];

describe('the push queue', () => {
  it('commits pushes that arrived together in one transaction', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => settled(pushOf(i + 1))));
    expect(commits.map(({ size }) => size)).toEqual([20]);
    expect(storedBeside()).toBe(20n);
  });

  it('commits at most 4 MiB in one transaction', async () => {
    const megabyte = 'x'.repeat(1_000_000);
    await Promise.all([1, 2, 3, 4, 5].map((site) => settled(pushOf(site, megabyte))));
    expect(commits.map(({ size }) => size)).toEqual([4, 1]);
  });

  it('stores the confirmation of a session before the site counts as settled', async () => {
    const waiting = pushOf(1);
    await settled(waiting);
    queue.confirm({ site: waiting.site, cursor: 1, lastAckedSequence: 1 });
    expect(queue.settle(waiting.site)).toBeNull();
    expect(file.sites.get(waiting.site)).toMatchObject({ confirmedCursor: 1, confirmedSequence: 1 });
  });

  it('sends nothing before the commit is done', async () => {
    const seen: unknown[] = [];
    onCommitted = () => void seen.push(storedBeside());
    await settled(pushOf(1)).then(() => seen.push(storedBeside()));
    expect(seen).toEqual([1n, 1n]);
  });

  it('fails only the push that does not fit on the disk, and continues', async () => {
    const pages = Number(file.sql.get('PRAGMA page_count')?.[0]);
    file.sql.get(`PRAGMA max_page_count = ${pages + 4}`);
    const results = await Promise.all([
      settled(pushOf(1)),
      settled(pushOf(2, 'x'.repeat(200_000))),
      settled(pushOf(3)),
    ]);
    expect(results.map((refusal) => refusal?.code ?? null)).toEqual([null, 'server-disk-full', null]);
    expect(failures).toHaveLength(1);
    expect(storedBeside()).toBe(2n);
    expect(file.log.watermark).toBe(2);
    file.sql.get('PRAGMA max_page_count = 100000');
    expect(await settled(pushOf(2, 'x'.repeat(200_000)))).toBeNull();
    expect(file.log.watermark).toBe(3);
  });
});

/** A store with asynchronous commits. */
function takingTurns(database: OpenDatabase): OpenDatabase {
  return {
    ...database,
    commit: async (body) => {
      await new Promise((resolve) => setImmediate(resolve));
      return database.commit(body);
    },
  };
}

describe.each([
  ['are done when they return', (database: OpenDatabase) => database],
  ['take a while', takingTurns],
])('a push queue whose commits %s', (_, over) => {
  let told: string[];

  beforeEach(() => {
    queue = queueOver(over(durableInFile(file)));
    told = [];
  });

  /** Pushes for three sites at once. The callback of the second throws. */
  async function pushThree(second = pushOf(2)): Promise<void> {
    const waiting = [pushOf(1), second, pushOf(3)];
    waiting.forEach((push, i) =>
      queue.push(push, (refusal) => {
        told.push(`${i + 1} ${refusal?.code ?? 'decided'}`);
        if (i === 1) throw new Error('cannot be delivered');
      }),
    );
    await queue.drainAll();
  }

  it('rejects a changeset whose commit failed three times because of its own content, and decides those around it', async () => {
    const store = durableInFile(file);
    // A store that cannot hold one value, like PostgreSQL with a limit that SQLite lacks.
    const failing = queueOver({
      ...store,
      commit: (body) =>
        store.commit(() => {
          const result = body();
          if (file.sql.get(`SELECT 1 FROM accounts WHERE name = 'poison'`) !== undefined)
            throw new RockpoolError('database-unavailable', { problem: 'PostgreSQL', systemCode: '54000' });
          return result;
        }),
    });
    const changesets = ['good', 'poison', 'later'].map((name, i) =>
      toChangeset(i + 1, 5 + i, 0, [insert('accounts', name, { name })]),
    );
    const whole = pushOf(1);
    const push = { ...whole, push: { ...whole.push, changesets: withAges(changesets, 1000) } };
    const settle = (): Promise<RockpoolError | null> => new Promise((resolve) => failing.push(push, resolve));
    expect(await settle()).toMatchObject({ code: 'database-unavailable' });
    expect(await settle()).toMatchObject({ code: 'database-unavailable' });
    expect(file.sql.all('SELECT name FROM accounts').flat()).toEqual(['good']);
    expect(await settle()).toBeNull();
    expect(file.sql.all('SELECT name FROM accounts ORDER BY name').flat()).toEqual(['good', 'later']);
    expect(file.sql.all('SELECT sequence, error_code FROM rockpool_outcome ORDER BY sequence')).toEqual([
      [1n, null],
      [2n, 'changeset-failed'],
      [3n, null],
    ]);
  });

  it('keeps no rejected changeset in memory once its outcome is stored', async () => {
    const failed = vi.spyOn(FailedChangesets.prototype, 'failed');
    onTestFinished(() => failed.mockRestore());
    const store = durableInFile(file);
    const failing = queueOver({
      ...store,
      commit: (body) =>
        store.commit(() => {
          const result = body();
          if (file.sql.get(`SELECT 1 FROM accounts`) !== undefined)
            throw new RockpoolError('database-unavailable', { problem: 'PostgreSQL', systemCode: '54000' });
          return result;
        }),
    });
    const remembered: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt++) {
      await new Promise((resolve) => failing.push(pushOf(1), resolve));
      remembered.push((failed.mock.contexts[0] as FailedChangesets | undefined)?.toReject.size ?? NaN);
    }
    expect(failed.mock.results.map(({ value }) => value as boolean)).toEqual([false, false, true]);
    expect(remembered).toEqual([0, 0, 0]);
  });

  it('never rejects a changeset because the store is unavailable', async () => {
    const store = durableInFile(file);
    const failing = queueOver({
      ...store,
      commit: () => {
        throw new RockpoolError('database-unavailable', { problem: 'PostgreSQL', systemCode: '57P01' });
      },
    });
    for (let attempt = 0; attempt < 5; attempt++)
      expect(await new Promise((resolve) => failing.push(pushOf(1), resolve))).toMatchObject({
        code: 'database-unavailable',
      });
    expect(await settled(pushOf(1))).toBeNull();
    expect(file.sql.all('SELECT name FROM accounts')).toHaveLength(1);
  });

  it('settles every push once and continues if one callback throws', async () => {
    await pushThree();
    expect(told).toEqual(['1 decided', '2 decided', '3 decided']);
    expect(commits).toHaveLength(1);
    expect(failures).toMatchObject([{ message: 'cannot be delivered' }]);
    expect(await settled(pushOf(4))).toBeNull();
    expect(storedBeside()).toBe(4n);
  });

  it('settles every push once and continues if publishing a commit throws', async () => {
    onCommitted = () => {
      throw new Error('no update');
    };
    await expect(Promise.all([settled(pushOf(1)), settled(pushOf(2))])).resolves.toEqual([null, null]);
    expect(commits).toHaveLength(1);
    expect(failures).toMatchObject([{ message: 'no update' }]);
    onCommitted = () => undefined;
    expect(await settled(pushOf(3))).toBeNull();
    expect(storedBeside()).toBe(3n);
  });

  it('settles every push once and continues if nothing can be stored and one callback throws', async () => {
    const database = durableInFile(file);
    let isFull = true;
    const commit: OpenDatabase['commit'] = (body) => {
      if (isFull) throw new RockpoolError('database-unavailable');
      return database.commit(body);
    };
    queue = queueOver(over({ ...database, commit }));
    await pushThree();
    expect(told).toEqual(['1 database-unavailable', '2 database-unavailable', '3 database-unavailable']);
    isFull = false;
    expect(await settled(pushOf(4))).toBeNull();
    expect(storedBeside()).toBe(1n);
  });

  it('fails only the push with a document that cannot be merged, and decides the pushes after it', async () => {
    file.documents.use(new BrokenPool());
    await pushThree(
      pushWith(
        2,
        insert('pages', 'p', {
          content: encodeDocumentCell({ kind: 'content', json: JSON.stringify({ body: 'x'.repeat(200_000) }) }),
        }),
      ),
    );
    expect(told).toEqual(['1 decided', '2 database-unavailable', '3 decided']);
    expect(storedBeside()).toBe(2n);
  });
});

it('a site counts as unsettled during a commit of its pushes, even if the store counts it as settled', async () => {
  const [begun, lasts] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const database = durableInFile(file);
  // The file does not have the commit yet, as with PostgreSQL or while a worker merges a document of the group.
  const commit: OpenDatabase['commit'] = async (body) => {
    begun.resolve();
    await lasts.promise;
    return database.commit(body);
  };
  queue = queueOver({ ...database, commit });
  const waiting = pushOf(1);
  queue.push(waiting, () => undefined);
  await begun.promise;
  const settling = queue.settle(waiting.site);
  expect([settling, queue.settle('of nobody')]).toEqual([expect.any(Promise), null]);
  lasts.resolve();
  await settling;
  expect(queue.settle(waiting.site)).toBeNull();
  expect(storedBeside()).toBe(1n);
});

/** Throws an unexpected error. */
class BrokenPool extends DocumentPool {
  override run(): Promise<never> {
    return Promise.reject(new Error('broken'));
  }
}

describe('the end of a turn', () => {
  it('splits the commit between two changesets, and the next commit continues in order', async () => {
    const inOneTurn = queueOver(durableInFile(file), -1);
    const settled: string[] = [];
    const long = pushOf(1);
    const changesets = [1, 2, 3].map((sequence) =>
      toChangeset(sequence, 5 + sequence, 0, [insert('accounts', `long${sequence}`, { name: `long ${sequence}` })]),
    );
    const done = new Promise<void>((resolve) => {
      inOneTurn.push({ ...long, push: { ...long.push, changesets: withAges(changesets, 1000) } }, () => {
        settled.push('long');
      });
      inOneTurn.push(pushOf(2), () => {
        settled.push('short');
        resolve();
      });
    });
    await done;
    expect(settled).toEqual(['long', 'short']);
    expect(commits).toHaveLength(4);
    expect(beside.all('SELECT id FROM accounts ORDER BY rowid')).toEqual([['long1'], ['long2'], ['long3'], ['k2']]);
  });
});
