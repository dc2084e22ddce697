import { encodeSchema, RockpoolError } from '@rockpool/shared';
import { blob, integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../src/client.ts';
import type { ClientOptions, SyncOptions, TokenAnswer } from '../src/interface/client-options.ts';
import type { LiveQuery } from '../src/interface/live-query.ts';
import type { Transaction, Write } from '../src/interface/writes.ts';
import type { Persistence } from '../src/rpc/persistence.ts';
import type { SqlStatement } from '../src/rpc/sql-statement.ts';
import type { SyncState } from '../src/rpc/sync-status.ts';
import { newId } from '../src/new-id.ts';
import { defineSchema } from '../src/schema/define-schema.ts';
import { searchIndex } from '../src/schema/search-index.ts';
import { searchText } from '../src/search-text.ts';
import { sql } from '../src/tab/sql.ts';
import { freshName, until, type BrowserTab } from './browser-tabs.ts';
import { insert200 } from './insert-200.ts';

const entry = sqliteTable('entry', { id: text().primaryKey(), number: integer().notNull(), note: text() });
const other = sqliteTable('other', { id: text().primaryKey() });
const seat = sqliteTable('seat', { id: text().primaryKey(), number: integer().notNull().unique() });
const kinds = sqliteTable('kinds', {
  id: text().primaryKey(),
  number: integer(),
  fraction: real(),
  note: text(),
  bytes: blob(),
});
const entrySearch = searchIndex(entry, { columns: [entry.note] });
const tables = { entry, kinds, other, seat };
const schema = defineSchema({ ...tables, entrySearch });

export interface ContractOptions {
  readonly createClient: (options: ClientOptions) => Promise<Client>;
  /** A client in another page, which can be killed; null if there are no pages. */
  readonly openTab: ((options: ClientOptions) => Promise<BrowserTab>) | null;
  /** A real server's database. */
  readonly sync: (schemaJson: string, databaseId: string) => Promise<{ readonly url: string; readonly token: string }>;
  /**
   * Whether tabs share the database. With `memory` in a browser they do not: each tab is the leader of its own
   * database.
   */
  readonly isShared: boolean;
  /**
   * Tests are omitted where another medium shows the same. One medium runs the `whole` contract. `differences` omits
   * the tests of code that is the same on every medium. `storage` also omits those of how tabs share a database, which
   * media without readers have in common: it leaves what depends on how the medium stores.
   */
  readonly extent: 'whole' | 'differences' | 'storage';
}

type Define = (title: string, body: () => Promise<void>) => void;

/** Defines a test of behaviour that is the same on every medium. */
function anywhere({ extent }: ContractOptions): Define {
  return extent === 'whole' ? it : () => undefined;
}

/** Defines a test of behaviour that depends only on how tabs share a database. */
function whereSharingDiffers({ extent }: ContractOptions): Define {
  return extent === 'storage' ? () => undefined : it;
}

let tested: ContractOptions;
const clients: Client[] = [];
const tabs: BrowserTab[] = [];

async function closeAll(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const tab of tabs.splice(0)) tab.kill();
}

interface Opened {
  readonly name: string;
  readonly mine: Client;
  readonly others: readonly Client[];
}

type NamedOptions = Partial<ClientOptions> & { readonly name: string };

/** A busy server may answer later than clients wait for a file. Then the rows arrive as deliveries. */
function failUnlessLate(error: RockpoolError): void {
  if (error.code === 'snapshot-unavailable') return;
  queueMicrotask(() => {
    throw error;
  });
}

/** The caller closes it. */
const create = (options: NamedOptions): Promise<Client> =>
  tested.createClient({ schema, onError: failUnlessLate, ...options });

/** Opens a client that is closed after the test. */
async function openHere(options: NamedOptions): Promise<Client> {
  const client = await create(options);
  clients.push(client);
  return client;
}

async function openElsewhere(options: NamedOptions): Promise<BrowserTab> {
  const tab = await tested.openTab?.({ schema, ...options });
  if (tab === undefined) throw new Error('there are no other pages here');
  tabs.push(tab);
  return tab;
}

/** Reads the number of entries again for each of many rows. */
const longQuery = (rowCount: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rowCount}) SELECT i, (SELECT count(*) FROM entry WHERE i > 0) AS count FROM n`;
const FIRST_ROW_COUNT = 100_000;
/** Reading so many rows takes a good part of a second, and a write milliseconds. */
const LAST_ROW_COUNT = 500_000;

interface Numbered {
  readonly number: number;
}

const insertion = (number: number): SqlStatement => sql`INSERT INTO entry (id, number) VALUES (${newId()}, ${number})`;
const insert = (client: Client, number: number): Write<unknown> => client.execute(insertion(number));
const numbersIn = async (where: Client | Transaction): Promise<number[]> =>
  (await where.query<Numbered>('SELECT number FROM entry ORDER BY number')).map(({ number }) => number);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Whether a write was done before a query of many rows ended. The query must show one snapshot in any case. */
async function writesDuringQuery(writer: Client, reader: Client, rowCount: number): Promise<boolean> {
  await writer.execute('DELETE FROM entry');
  await insert(writer, 1);
  let hasEnded = false;
  const reading = reader.query<{ count: number }>(longQuery(rowCount)).then((rows) => {
    hasEnded = true;
    return rows;
  });
  // The long query is running once the next query has its result.
  await reader.query('SELECT 1');
  await insert(writer, 2);
  const wasMeanwhile = !hasEnded;
  const rows = await reading;
  expect(rows).toHaveLength(rowCount);
  expect(new Set(rows.map(({ count }) => count)).size).toBe(1);
  return wasMeanwhile;
}

function follow(client: Client): {
  readonly live: LiveQuery<Numbered>;
  readonly numbers: () => number[];
  readonly end: () => void;
} {
  const live = client.live<Numbered>('SELECT number FROM entry ORDER BY number');
  const end = live.subscribe(() => undefined);
  return { live, numbers: () => live.current.rows.map(({ number }) => number), end };
}

/**
 * Returns a function that opens tabs for the first test that calls it, and gives them to later tests with empty tables:
 * opening tabs is most of the work of a short test. After a failed test, it opens others.
 */
function sharedByTests(open: () => Promise<Opened>): () => Promise<Opened> {
  let opened: Opened | null = null;
  async function close(): Promise<void> {
    const clients = opened === null ? [] : [opened.mine, ...opened.others];
    opened = null;
    await Promise.all(clients.map((client) => client.close()));
  }
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await close();
  });
  afterAll(close);
  return async () => {
    opened ??= await open();
    await opened.mine.batch(Object.keys(tables).map((table) => ({ sql: `DELETE FROM ${table}`, params: [] })));
    return opened;
  };
}

/** The client's behaviour on every medium, as the leader tab and as a follower. */
export function describeClient(persistence: Persistence, options: ContractOptions): void {
  describe(`Client on ${persistence}`, () => {
    beforeEach(() => {
      tested = options;
    });
    afterEach(closeAll);
    describeRoles(persistence, options);
    if (options.isShared && options.openTab !== null) describeSuccession(persistence, options);
  });
}

async function syncWith({ sync }: ContractOptions, databaseId: string): Promise<SyncOptions> {
  const { url, token } = await sync(encodeSchema(schema), databaseId);
  return { url, databaseId, token: () => token };
}

function describeRoles(persistence: Persistence, options: ContractOptions): void {
  const { isShared, extent } = options;
  const itAnywhere = anywhere(options);
  const itWhereSharingDiffers = whereSharingDiffers(options);
  const roles = isShared && extent !== 'storage' ? (['leader', 'follower'] as const) : (['leader'] as const);

  describe.each(roles)('in the tab that is the %s', (role) => {
    /**
     * The client under test and, if tabs share a database, a second one. `more`: options of every tab, or of the tab
     * that is opened first (0) and second (1).
     */
    async function open(
      more: Partial<ClientOptions> | ((tab: number) => Partial<ClientOptions>) = {},
      openOne = openHere,
    ): Promise<Opened> {
      const name = freshName();
      const openTabNumber = (tab: number): Promise<Client> =>
        openOne({ name, persistence, ...(typeof more === 'function' ? more(tab) : more) });
      const first = await openTabNumber(0);
      if (!isShared) return { name, mine: first, others: [] };
      const second = await openTabNumber(1);
      return role === 'leader' ? { name, mine: first, others: [second] } : { name, mine: second, others: [first] };
    }
    const openShared = sharedByTests(() => open({}, create));

    it('reports its storage and its role', async () => {
      const { mine } = await openShared();
      expect(mine.status.current).toMatchObject({ persistence, role });
    });

    it('reads its own writes at once, and so does every other tab', async () => {
      const { mine, others } = await openShared();
      for (const number of upTo(20)) {
        await insert(mine, number);
        for (const client of [mine, ...others]) expect(await numbersIn(client)).toEqual(upTo(number + 1));
      }
    });

    itWhereSharingDiffers('returns every kind of value as it was written', async () => {
      const { mine, others } = await openShared();
      const long = 'x'.repeat(100_000);
      await mine.execute(
        sql`INSERT INTO kinds VALUES (${'ü😀'}, ${2n ** 60n}, 1.5, ${long}, x'00ff'), ('b', NULL, NULL, NULL, NULL)`,
      );
      for (const client of [mine, ...others]) {
        expect(await client.query('SELECT * FROM kinds ORDER BY number DESC')).toEqual([
          { id: 'ü😀', number: 2n ** 60n, fraction: 1.5, note: long, bytes: new Uint8Array([0, 255]) },
          { id: 'b', number: null, fraction: null, note: null, bytes: null },
        ]);
      }
    });

    itWhereSharingDiffers(
      'shows a write in its own live queries and those of other tabs, and emits nothing if no query depends on it',
      async () => {
        const { mine, others } = await openShared();
        const views = [mine, ...others].map(follow);
        for (const { live } of views) await until(() => !live.current.loading);
        const before = views.map(({ live }) => live.current);
        await mine.execute(sql`INSERT INTO other VALUES ('a')`);
        await insert(mine, 1);
        for (const { numbers } of views) await until(() => numbers().length === 1);
        expect(before.map(({ rows }) => rows)).toEqual(before.map(() => []));
        if (others[0] !== undefined) await insert(others[0], 2);
        else await insert(mine, 2);
        for (const { numbers } of views) await until(() => numbers().length === 2);
        for (const { numbers } of views) expect(numbers()).toEqual([1, 2]);
        for (const { end } of views) end();
      },
    );

    itAnywhere('finds rows from every tab and from the server by a search index, in live queries too', async () => {
      const syncing = await syncWith(options, freshName());
      const { mine, others } = await open({ sync: syncing });
      const elsewhere = await openHere({ name: freshName(), persistence: 'memory', sync: syncing });
      const views = [mine, ...others].map((client) =>
        client.live<Numbered>(
          sql`SELECT number FROM entry WHERE rowid IN (SELECT rowid FROM entry_search WHERE entry_search MATCH ${searchText('dro HER')}) ORDER BY number`,
        ),
      );
      for (const view of views) view.subscribe(() => undefined);
      const all = async (...numbers: number[]): Promise<void> => {
        for (const view of views)
          await until(() => JSON.stringify(view.current.rows.map(({ number }) => number)) === JSON.stringify(numbers));
      };
      await mine.execute(sql`INSERT INTO entry VALUES ('a', 1, 'The drowsy heron'), ('b', 2, 'A kingfisher')`);
      await all(1);
      await until(async () => (await numbersIn(elsewhere)).length === 2);
      await elsewhere.execute(sql`UPDATE entry SET note = ${'Another drowsy héron'} WHERE id = 'b'`);
      await all(1, 2);
      await elsewhere.execute(sql`DELETE FROM entry WHERE id = 'a'`);
      await all(2);
      expect(views.map(({ current }) => current.error)).toEqual(views.map(() => null));
    });

    itAnywhere('runs a batch as one transaction, whole or not at all', async () => {
      const { mine, others } = await openShared();
      const results = await mine.batch([
        sql`INSERT INTO entry VALUES ('a', 1, NULL)`,
        sql`UPDATE entry SET number = 2`,
      ]);
      expect(results.map(({ changes }) => changes)).toEqual([1, 1]);
      const failing = mine.batch([
        sql`INSERT INTO entry VALUES ('b', 3, NULL)`,
        sql`INSERT INTO entry VALUES ('a', 4, NULL)`,
      ]);
      await expect(failing).rejects.toMatchObject({ code: 'constraint-primary-key' });
      for (const client of [mine, ...others]) expect(await numbersIn(client)).toEqual([2]);
    });

    itAnywhere('rejects with errors that have a code and a recovery', async () => {
      const { mine } = await openShared();
      await expect(mine.execute(sql`INSERT INTO entry VALUES ('a', ${null}, NULL)`)).rejects.toMatchObject({
        code: 'constraint-not-null',
        recovery: 'ask-user',
      });
      await expect(mine.query('SELECT nonsense')).rejects.toMatchObject({ code: 'query-invalid' });
      await expect(mine.query('DELETE FROM entry')).rejects.toMatchObject({ code: 'sql-read-only' });
      const live = mine.live('SELECT nonsense FROM entry');
      const unsubscribe = live.subscribe(() => undefined);
      await until(() => live.current.error !== null);
      expect(live.current.error?.code).toBe('query-invalid');
      unsubscribe();
    });

    itAnywhere('keeps the order of writes that are not awaited', async () => {
      const { mine } = await openShared();
      await insert(mine, 0);
      await Promise.all(upTo(50).map(() => mine.execute('UPDATE entry SET number = number * 2 + 1')));
      expect(await mine.query('SELECT number FROM entry')).toEqual([{ number: Number(2n ** 50n - 1n) }]);
    });

    itWhereSharingDiffers(
      'writes while a long query runs in any tab, and the query still shows one snapshot',
      async () => {
        const { mine, others } = await openShared();
        for (const reader of [mine, ...others]) {
          // On a busy machine, the write may take as long as a query of few rows.
          for (let rowCount = FIRST_ROW_COUNT; !(await writesDuringQuery(mine, reader, rowCount)); rowCount *= 3)
            expect(rowCount).toBeLessThan(LAST_ROW_COUNT);
        }
      },
    );

    itAnywhere('syncs with a server, both ways', async () => {
      const databaseId = freshName();
      const syncing = await syncWith(options, databaseId);
      const { mine } = await open({ sync: syncing });
      const elsewhere = await openHere({ name: freshName(), persistence: 'memory', sync: syncing });
      await insert(mine, 1);
      await until(async () => (await numbersIn(elsewhere)).length === 1);
      const view = follow(mine);
      await insert(elsewhere, 2);
      await until(() => view.numbers().length === 2);
      await until(() => mine.status.current.state === 'up-to-date' && mine.status.current.pendingCount === 0);
      expect(view.numbers()).toEqual([1, 2]);
    });

    itAnywhere(
      'reports when the server has a write, why it rejected one, and how far the changes of a row have come, across a pause',
      async () => {
        const syncing = await syncWith(options, freshName());
        const { mine, others } = await open({ sync: syncing });
        const elsewhere = await openHere({ name: freshName(), persistence: 'memory', sync: syncing });
        const take = (client: Client, id: string, number: number): Write<unknown> =>
          client.execute(sql`INSERT INTO seat (id, number) VALUES (${id}, ${number})`);
        await take(mine, 'first', 1).synced;
        expect(await mine.rowSyncState('seat', 'first')).toMatchObject({ stage: 'admitted', conflicts: [] });

        await mine.sync.pause();
        for (const client of [mine, ...others]) await until(() => client.status.current.state === 'paused');
        await take(elsewhere, 'theirs', 2).synced;
        const late = take(mine, 'late', 2);
        const fine = take(mine, 'fine', 3);
        await Promise.all([late, fine]);
        const outcomes = Promise.allSettled([late.synced, fine.synced]);
        // Checked immediately, because the writer must not see a status that says that everything is sent.
        expect(mine.status.current.pendingCount).toBe(2);
        expect(await mine.rowSyncState('seat', 'late')).toMatchObject({
          stage: 'pending',
          changes: [{ stage: 'pending', reason: null }],
        });
        expect(await mine.rowSyncState('seat', 'theirs')).toMatchObject({ stage: 'none', changes: [] });

        await mine.sync.resume();
        expect(await outcomes).toMatchObject([
          { status: 'rejected', reason: { code: 'constraint-unique' } },
          { status: 'fulfilled' },
        ]);
        for (const client of [mine, ...others]) {
          await until(async () => (await client.rowSyncState('seat', 'late')).stage === 'rejected');
          expect(await client.rowSyncState('seat', 'late')).toMatchObject({
            changes: [{ reason: { code: 'constraint-unique' } }],
          });
          expect(await client.rowSyncState('seat', ['theirs'])).toMatchObject({ stage: 'delivered', changes: [] });
        }
        await until(() => mine.status.current.state === 'up-to-date');
        expect(await mine.query('SELECT id FROM seat ORDER BY number')).toEqual([
          { id: 'first' },
          { id: 'theirs' },
          { id: 'fine' },
        ]);
      },
    );

    itAnywhere(
      'distinguishes a signed-out user, a network without the app’s server and a fault in the app’s code',
      async () => {
        const syncing = await syncWith(options, freshName());
        const problems: RockpoolError[] = [];
        let token: SyncOptions['token'] = () => {
          throw new TypeError('Failed to fetch');
        };
        const { mine } = await open({
          sync: { ...syncing, token: () => token() },
          onError: (error) => void problems.push(error),
        });
        const becomes = async (next: SyncOptions['token'], state: SyncState, reason: object | null): Promise<void> => {
          token = next;
          await mine.sync.tryNow();
          await until(() => mine.status.current.state === state);
          if (reason === null) return expect(mine.status.current.reason).toBeNull();
          await until(() => mine.status.current.reason !== null);
          expect(mine.status.current.reason).toMatchObject(reason);
        };
        await becomes(token, 'offline', { code: 'network-unreachable', fields: { stage: 'token' } });
        await becomes(() => null, 'needs-auth', { code: 'auth-signed-out' });
        const thrown = new TypeError('user is undefined');
        await becomes(() => Promise.reject(thrown), 'blocked', {
          code: 'token-callback-failed',
          fields: { stage: 'token', thrown: 'TypeError' },
        });
        expect(problems.map(({ code, cause }) => [code, cause])).toEqual([['token-callback-failed', thrown]]);
        await becomes(() => Promise.reject(new RockpoolError('auth-database-forbidden')), 'needs-auth', {
          code: 'auth-database-forbidden',
        });
        await becomes(() => 7 as unknown as string, 'blocked', {
          code: 'token-callback-failed',
          fields: { problem: 'the token is not a string', type: 'number' },
        });
        await becomes(async () => new Response(null, { status: 502 }), 'offline', {
          code: 'network-unreachable',
          fields: { stage: 'token', status: 502 },
        });
        await becomes(async () => new Response((await syncing.token()) as string), 'up-to-date', null);
      },
    );

    /** Returns whether the rows came as a file. */
    async function firstSync(): Promise<boolean> {
      const databaseId = freshName();
      let isLate = false;
      const syncing = await syncWith(options, databaseId);
      const elsewhere = await openHere({ name: freshName(), persistence: 'memory', sync: syncing });
      await elsewhere.batch(upTo(300).map(insertion)).synced;
      const token = Promise.withResolvers<TokenAnswer>();
      const progress: { readonly receivedBytes: number; readonly totalBytes: number }[][] = [[], []];
      const { mine, others } = await open((tab) => ({
        onError(error) {
          isLate ||= error.code === 'snapshot-unavailable';
          failUnlessLate(error);
        },
        sync: {
          ...syncing,
          token: () => token.promise,
          firstSync: { answerWithinMs: 1, onProgress: (now) => void progress[tab]?.push(now) },
        },
      }));
      const seen = follow(mine);
      await insert(mine, 1_000);
      token.resolve(await syncing.token());
      const all = [...upTo(300), 1_000];
      for (const client of [mine, ...others])
        await until(
          async () => client.status.current.state === 'up-to-date' && (await numbersIn(client)).length === all.length,
        );
      for (const client of [mine, ...others]) expect(await numbersIn(client)).toEqual(all);
      await until(() => seen.numbers().length === all.length);
      await until(async () => (await numbersIn(elsewhere)).length === all.length);
      // Only a file reports its bytes. Every tab receives the end of the download.
      const isComplete = (last: (typeof progress)[0][0] | undefined): boolean =>
        last !== undefined && last.receivedBytes === last.totalBytes;
      await until(() => isLate || progress.slice(0, 1 + others.length).every((reports) => isComplete(reports.at(-1))));
      return !isLate;
    }

    it('receives the server’s state as a file, with earlier local writes on top, and updates live queries', async () => {
      for (let attempt = 1; !(await firstSync()); attempt++) expect(attempt).toBeLessThan(5);
    });

    itAnywhere('rejects the synced promise of a write if there is no server', async () => {
      const { mine } = await openShared();
      await expect(insert(mine, 1).synced).rejects.toMatchObject({ code: 'config-invalid' });
    });

    describeTransactions(options, openShared);

    if (persistence !== 'memory') {
      it('keeps its rows when it is opened again', async () => {
        const { name, mine } = await open();
        await insert(mine, 1);
        await closeAll();
        expect(await numbersIn(await openHere({ name, persistence }))).toEqual([1]);
      });

      it('keeps its rows with strict durability when it is opened again', async () => {
        const { name, mine, others } = await open({ durability: 'strict' });
        await Promise.all(upTo(10).map((number) => insert(mine, number)));
        for (const client of [mine, ...others]) expect(await numbersIn(client)).toEqual(upTo(10));
        await closeAll();
        expect(await numbersIn(await openHere({ name, persistence }))).toEqual(upTo(10));
      });
    }
  });
}

function describeTransactions(options: ContractOptions, open: () => Promise<Opened>): void {
  const itAnywhere = anywhere(options);
  const itWhereSharingDiffers = whereSharingDiffers(options);
  const forever = (): Promise<never> => new Promise(() => undefined);

  itWhereSharingDiffers(
    'sees the writes of a transaction in it; other tabs neither see them nor wait for them',
    async () => {
      const { mine, others } = await open();
      await insert(mine, 1);
      const result = await mine.transaction(async (tx) => {
        await tx.execute(insertion(2));
        expect(await numbersIn(tx)).toEqual([1, 2]);
        for (const client of [mine, ...others]) expect(await numbersIn(client)).toEqual([1]);
        return 42;
      });
      expect(result).toBe(42);
      for (const client of [mine, ...others]) expect(await numbersIn(client)).toEqual([1, 2]);
    },
  );

  itAnywhere('rolls back a transaction whose body throws, and rejects with the thrown error', async () => {
    const { mine } = await open();
    const thrown = new Error('no');
    const failing = mine.transaction(async (tx) => {
      await tx.execute(insertion(1));
      throw thrown;
    });
    await expect(failing).rejects.toBe(thrown);
    await insert(mine, 2);
    expect(await numbersIn(mine)).toEqual([2]);
  });

  itAnywhere('rolls back only the nested transaction that throws', async () => {
    const { mine } = await open();
    await mine.transaction(async (tx) => {
      await tx.execute(insertion(1));
      await tx.transaction((inner) => inner.execute(insertion(2)));
      const failing = tx.transaction(async (inner) => {
        await inner.execute(insertion(3));
        await inner.transaction((innermost) => innermost.execute(insertion(4)));
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      await tx.execute(insertion(5));
    });
    expect(await numbersIn(mine)).toEqual([1, 2, 5]);
  });

  itAnywhere('ends a transaction when its signal aborts, with the reason', async () => {
    const { mine } = await open();
    const aborter = new AbortController();
    const reason = new Error('changed my mind');
    const running = mine.transaction(
      async (tx) => {
        await tx.execute(insertion(1));
        aborter.abort(reason);
        await forever();
      },
      { signal: aborter.signal },
    );
    await expect(running).rejects.toBe(reason);
    await insert(mine, 2);
    expect(await numbersIn(mine)).toEqual([2]);
  });

  itAnywhere('ends a transaction at its time limit, after which all tabs can write', async () => {
    const { mine, others } = await open();
    const running = mine.transaction(
      async (tx) => {
        await tx.execute(insertion(1));
        await forever();
      },
      { timeoutMs: 200 },
    );
    await expect(running).rejects.toMatchObject({ code: 'transaction-timeout', recovery: 'retry' });
    for (const client of [mine, ...others]) await insert(client, 2);
    expect(await numbersIn(mine)).toEqual([mine, ...others].map(() => 2));
  });

  itAnywhere('makes all writes wait for the end of a transaction', async () => {
    const { mine, others } = await open();
    const done: string[] = [];
    let waiting: Promise<unknown>[] = [];
    await mine.transaction(async (tx) => {
      waiting = [mine, ...others].map((client) => insert(client, 2).then(() => done.push('write')));
      await tx.execute(insertion(1));
      await numbersIn(tx);
      expect(done).toEqual([]);
    });
    await Promise.all(waiting);
    expect(await numbersIn(mine)).toEqual([1, ...[mine, ...others].map(() => 2)]);
  });
}

function describeSuccession(persistence: Persistence, options: ContractOptions): void {
  const itAnywhere = anywhere(options);
  const itWhereSharingDiffers = whereSharingDiffers(options);
  describe('when the leader tab dies, closes or is hidden', () => {
    it.each(['closed', 'killed'] as const)(
      'a follower loses and repeats none of its writes if the leader tab is %s',
      async (how) => {
        const name = freshName();
        const leader = await openElsewhere({ name, persistence });
        const mine = await openHere({ name, persistence });
        const third = await openHere({ name, persistence });
        const view = follow(third);
        await insert200(
          (number) => insert(mine, number),
          () => (how === 'closed' ? leader.client.close() : leader.kill()),
        );
        for (const client of [mine, third]) expect(await numbersIn(client)).toEqual(upTo(200));
        await until(() => mine.status.current.role === 'leader');
        await insert(third, 200);
        await until(() => view.numbers().length === 201);
        expect(view.numbers()).toEqual(upTo(201));
      },
    );

    it('a write whose promise resolved is stored exactly once', async () => {
      const name = freshName();
      const leader = await openElsewhere({ name, persistence });
      const mine = await openHere({ name, persistence });
      const resolved: number[] = [];
      for (const number of upTo(50))
        insert(leader.client, number).then(
          () => resolved.push(number),
          () => undefined,
        );
      await until(() => resolved.length > 10);
      leader.kill();
      const numbers = await numbersIn(mine);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(numbers).toEqual(expect.arrayContaining(resolved));
    });

    itAnywhere('the `synced` promise of a follower’s write stays pending, and a pause stays in effect', async () => {
      const syncing = await syncWith(options, freshName());
      const name = freshName();
      const leader = await openElsewhere({ name, persistence, sync: syncing });
      const mine = await openHere({ name, persistence, sync: syncing });
      await leader.client.sync.pause();
      const write = insert(mine, 1);
      await write;
      let isSynced = false;
      const synced = write.synced.then(() => (isSynced = true));
      leader.kill();
      await until(() => mine.status.current.role === 'leader' && mine.status.current.state === 'paused');
      expect(isSynced).toBe(false);
      await mine.sync.resume();
      await synced;
      expect(mine.status.current.pendingCount).toBe(0);
    });

    itWhereSharingDiffers(
      'reads and live queries of a follower continue, at the latest when the next tab leads',
      async () => {
        const name = freshName();
        const leader = await openElsewhere({ name, persistence });
        const mine = await openHere({ name, persistence });
        await insert(mine, 1);
        const view = follow(mine);
        await until(() => view.numbers().length === 1);
        leader.kill();
        const reads = await Promise.all(upTo(10).map(() => numbersIn(mine)));
        expect(reads).toEqual(reads.map(() => [1]));
        await insert(mine, 2);
        await until(() => view.numbers().length === 2);
      },
    );

    itWhereSharingDiffers(
      'a hidden page hands over the leadership, and shows missed changes when it is visible again',
      async () => {
        const name = freshName();
        const away = await openElsewhere({ name, persistence });
        const here = await openHere({ name, persistence });
        const view = follow(away.client);
        await until(() => !view.live.current.loading);
        away.window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
        await until(() => here.status.current.role === 'leader');
        await insert(here, 1);
        const asked = insert(away.client, 2);
        away.window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
        await asked;
        await until(() => view.numbers().length === 2);
        expect(view.numbers()).toEqual([1, 2]);
      },
    );

    itAnywhere('sync continues in the next leader, with the unsent changes', async () => {
      const databaseId = freshName();
      const syncing = await syncWith(options, databaseId);
      const name = freshName();
      const leader = await openElsewhere({ name, persistence, sync: syncing });
      const mine = await openHere({ name, persistence, sync: syncing });
      await insert200(
        (number) => insert(mine, number),
        () => leader.kill(),
      );
      const elsewhere = await openHere({ name: freshName(), persistence: 'memory', sync: syncing });
      await until(async () => (await numbersIn(elsewhere)).length === 200);
      expect(await numbersIn(elsewhere)).toEqual(upTo(200));
    });
  });
}
