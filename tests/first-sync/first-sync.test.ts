import { randomBytes } from 'node:crypto';
import { buildSchema, createTableSql, decodeSchema, encodeSchema, RockpoolError, tableToDdl } from '#shared/index.ts';
import { memoryMedium, openStorage, storageSizes, type Medium } from '#vfs-opfs/index.ts';
import { SimulatedDisk } from '#vfs-opfs/testing/index.ts';
import { firstSync } from '#client/worker/first-sync/first-sync.ts';
import type { FirstSyncOptions } from '#client/worker/first-sync/take-first-sync.ts';
import type { SnapshotProgress } from '#client/rpc/snapshot-progress.ts';
import type { Migration } from '#client/rpc/migration.ts';
import { openDatabase, type OpenDatabase } from '#client/worker/database/open-database.ts';
import { openInMemory, testRuntime } from '#client/testing/worker/test-database.ts';
import { atLevel } from '#kit/level.ts';
import { insert, remove, update } from '#sync-server/testing/changeset.ts';
import { serverUnderTest } from '#sync-server/testing/server-under-test.ts';
import { TestSite } from '#sync-server/testing/test-client.ts';
import { ACCOUNTS, column, table, TEST_SCHEMA, TEST_TABLES } from '#sync-server/testing/test-schema.ts';
import { DATABASE } from '#sync-server/testing/test-server.ts';
import { describe, expect, it } from 'vitest';
import { fetchBuilt } from './test-snapshots.ts';

// The schema in the form that a worker receives from its page.
const SCHEMA = decodeSchema(encodeSchema(TEST_SCHEMA));
const tested = serverUnderTest({ snapshots: { minFileBytes: 1 } });

async function fillServer(): Promise<void> {
  const writer = await tested.server.open();
  await writer.commit(
    Array.from({ length: 500 }, (_, i) =>
      insert('entries', `e${i}`, { amount: BigInt(i), note: `note ${randomBytes(20).toString('hex')}` }),
    ),
  );
  await writer.commit([
    insert('accounts', 'a', { name: 'Cash', rank: 2n ** 62n }),
    insert('accounts', 'b', { name: 'Bank' }),
  ]);
  await writer.commit([remove('accounts', 'b')]);
}

const options = (medium: Medium, changes: Partial<FirstSyncOptions> = {}): FirstSyncOptions => ({
  name: 'budget',
  medium,
  schema: SCHEMA,
  migrations: null,
  runtime: Promise.resolve(testRuntime),
  randomBytes: (count) => new Uint8Array(randomBytes(count)),
  url: `ws://${tested.server.host}`,
  databaseId: DATABASE,
  token: () => tested.server.token(),
  onProgress: () => undefined,
  onWait: () => undefined,
  answerWithinMs: 20_000,
  ...changes,
});

async function opened<Result>(
  medium: Medium,
  use: (database: OpenDatabase) => Result,
  bundle: Pick<FirstSyncOptions, 'schema' | 'migrations'> = { schema: SCHEMA, migrations: null },
): Promise<Result> {
  const storage = await openStorage({ name: 'budget', medium, role: 'writer' });
  try {
    storage.register(testRuntime.module);
    const database = openDatabase({
      runtime: testRuntime,
      path: storage.path,
      vfsName: storage.vfsName,
      role: 'writer',
      ...bundle,
      randomBytes: (count) => new Uint8Array(randomBytes(count)),
      nowMs: Date.now,
    });
    try {
      return use(database);
    } finally {
      database.close();
    }
  } finally {
    await storage.close();
  }
}

/** Cuts the next responses after some bytes. */
function cutting(times: number, bytes: number): { readonly fetch: typeof fetch; readonly asked: (string | null)[] } {
  const asked: (string | null)[] = [];
  let left = times;
  return {
    asked,
    fetch: async (input, init) => {
      asked.push(new Headers(init?.headers).get('range'));
      const response = await fetchBuilt(input, init);
      if (left-- <= 0) return response;
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const first = (await reader.read()).value as Uint8Array;
      await reader.cancel();
      let isSent = false;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (isSent) return controller.error(new Error('cut'));
          isSent = true;
          controller.enqueue(first.slice(0, bytes));
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    },
  };
}

/** A first sync whose worker dies at this storage call. Returns the medium of the next one, and the number of calls. */
async function afterDeathAt(
  call: number,
  changes: Partial<FirstSyncOptions> = {},
): Promise<{ readonly next: Medium; readonly calls: number }> {
  const disk = new SimulatedDisk();
  const medium = disk.medium();
  let calls = 0;
  let isDead = false;
  disk.observer = () => {
    if (isDead || ++calls < call) return;
    isDead = true;
    medium.kill();
    throw new Error('killed');
  };
  await firstSync(options(medium, changes)).catch(() => undefined);
  disk.observer = undefined;
  return { next: disk.medium(), calls };
}

describe('a first sync', () => {
  it('installs the server’s state as a file, at the snapshot’s position in the log', async () => {
    await fillServer();
    const medium = memoryMedium();
    const progress: SnapshotProgress[] = [];
    expect(await firstSync(options(medium, { onProgress: (now) => progress.push(now) }))).toBe(true);
    expect(progress.at(-1)).toEqual({
      receivedBytes: progress.at(-1)?.totalBytes,
      totalBytes: progress.at(-1)?.totalBytes,
    });
    const site = new TestSite();
    await opened(medium, (database) => {
      expect(database.connection.rows('SELECT count(*), sum(amount) FROM entries')).toEqual([[500, 124_750]]);
      expect(database.connection.rows('SELECT id, name, rank FROM accounts')).toEqual([['a', 'Cash', 2n ** 62n]]);
      expect(database.connection.rows('PRAGMA integrity_check')).toEqual([['ok']]);
      expect(database.meta).toMatchObject({ cursor: 3, siteId: expect.objectContaining({ length: 16 }) as Uint8Array });
      site.logEpoch = database.meta.logEpoch;
      site.cursor = database.meta.cursor;
      site.logHashes.set(site.cursor, database.meta.cursorHash);
      // The database captures and stores writes like any other.
      database.write({
        id: 'w',
        statements: [{ sql: `UPDATE accounts SET name = 'Purse' WHERE id = 'a'`, params: [] }],
      });
      expect(database.changelog.head().sequence).toBe(1);
    });
    const writer = await tested.server.open();
    await writer.commit([update('accounts', 'a', { rank: 1n })]);
    const { welcome, first } = await (await tested.server.connect(site)).open(await tested.server.token(), DATABASE);
    expect(welcome.fullResync).toBe(false);
    expect(first).toMatchObject({ from: 3, to: 4 });
    // Once the database exists, the stream delivers new rows.
    expect(await firstSync(options(medium))).toBe(false);
  });

  it('fills the search indexes of the app', async () => {
    await fillServer();
    const medium = memoryMedium();
    expect(await firstSync(options(medium))).toBe(true);
    await opened(medium, (database) =>
      expect(
        database.connection.rows(
          "SELECT name FROM accounts WHERE rowid IN (SELECT rowid FROM accounts_search WHERE accounts_search MATCH 'cash')",
        ),
      ).toEqual([['Cash']]),
    );
  });

  it('resumes a download that was cut', async () => {
    await fillServer();
    const line = cutting(3, 1_000);
    const medium = memoryMedium();
    expect(await firstSync(options(medium, { fetch: line.fetch }))).toBe(true);
    expect(line.asked).toEqual([null, 'bytes=1000-', 'bytes=2000-', 'bytes=3000-']);
    await opened(medium, (database) => expect(database.connection.value('SELECT count(*) FROM entries')).toBe(500));
  });

  it('resumes after a connection that stalls without ending', async () => {
    await fillServer();
    const asked: (string | null)[] = [];
    const stalling: typeof fetch = async (input, init) => {
      asked.push(new Headers(init?.headers).get('range'));
      const response = await fetchBuilt(input, init);
      if (asked.length > 1) return response;
      const first = new Uint8Array(await response.arrayBuffer()).subarray(0, 1_000);
      return new Response(new ReadableStream({ start: (controller) => controller.enqueue(first) }), {
        status: response.status,
        headers: response.headers,
      });
    };
    const medium = memoryMedium();
    expect(await firstSync(options(medium, { fetch: stalling, nextBytesMs: 200 }))).toBe(true);
    expect(asked.slice(0, 2)).toEqual([null, 'bytes=1000-']);
    await opened(medium, (database) => expect(database.connection.value('SELECT count(*) FROM entries')).toBe(500));
  });

  it('is complete if the connection is cut after the last byte', async () => {
    await fillServer();
    let asked = 0;
    const cutAtTheEnd: typeof fetch = async (input, init) => {
      asked++;
      const response = await fetchBuilt(input, init);
      const bytes = new Uint8Array(await response.arrayBuffer());
      let isSent = false;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (isSent) return controller.error(new Error('cut'));
          isSent = true;
          controller.enqueue(bytes);
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    };
    const medium = memoryMedium();
    expect(await firstSync(options(medium, { fetch: cutAtTheEnd }))).toBe(true);
    expect(asked).toBe(1);
    await opened(medium, (database) => expect(database.connection.value('SELECT count(*) FROM entries')).toBe(500));
  });

  it('leaves nothing behind if it fails', async () => {
    await fillServer();
    const medium = memoryMedium();
    await expect(firstSync(options(medium, { fetch: cutting(Infinity, 0).fetch }))).rejects.toMatchObject({
      code: 'network-unreachable',
      fields: { stage: 'snapshot-answer' },
    });
    const damaging: typeof fetch = async (input, init) => {
      const response = await fetchBuilt(input, init);
      const bytes = new Uint8Array(await response.arrayBuffer());
      bytes[100] = (bytes[100] ?? 0) ^ 1;
      return new Response(bytes, { status: response.status, headers: response.headers });
    };
    await expect(firstSync(options(medium, { fetch: damaging }))).rejects.toMatchObject({
      code: 'snapshot-unavailable',
      fields: { problem: 'the downloaded file does not match the hash that the server sent' },
    });
    expect(await medium.list()).toEqual([]);
  });

  it('is complete or repeated if the worker dies while the file becomes the database', async () => {
    await fillServer();
    const { calls } = await afterDeathAt(Infinity);
    // These calls follow the download: they create the database, make room in its file and copy the snapshot there.
    for (let call = calls - 24; call <= calls; call += atLevel({ test: 4, verify: 1 })) {
      const { next } = await afterDeathAt(call);
      await firstSync(options(next));
      await opened(next, ({ connection, meta }) => {
        expect([call, connection.value('SELECT count(*) FROM entries'), meta.cursor]).toEqual([call, 500, 3]);
      });
    }
  });

  it('stores nothing if the server offers no snapshot', async () => {
    const medium = memoryMedium();
    expect(await firstSync(options(medium, { fetch: async () => new Response(null, { status: 204 }) }))).toBe(false);
    expect(await medium.list()).toEqual([]);
  });

  it.each<[string, Partial<FirstSyncOptions>, object]>([
    [
      'no network',
      { fetch: () => Promise.reject(new TypeError('failed to fetch')) },
      { code: 'network-unreachable', fields: { stage: 'snapshot-answer' } },
    ],
    ['no server', { url: 'ws://127.0.0.1:1' }, { code: 'network-unreachable', fields: { stage: 'snapshot-answer' } }],
    ['no token', { token: () => Promise.reject(new RockpoolError('auth-signed-out')) }, { code: 'auth-signed-out' }],
    [
      'no end to the token',
      { token: () => new Promise(() => undefined), answerWithinMs: 10 },
      { code: 'network-unreachable', fields: { stage: 'token', waitedMs: 10 } },
    ],
    [
      'a token that the server refuses',
      { token: async () => 'noise' },
      { code: 'snapshot-unavailable', fields: { stage: 'snapshot-answer', status: 401 } },
    ],
    [
      'a file that is not built in time',
      { token: async () => 'any', answerWithinMs: 10, fetch: async () => new Response(null, { status: 202 }) },
      { code: 'snapshot-unavailable', fields: { stage: 'snapshot-build', waitedMs: 10 } },
    ],
  ])('stores nothing, and reports the reason: %s', async (_, changes, failure) => {
    const medium = memoryMedium();
    await expect(firstSync(options(medium, changes))).rejects.toMatchObject(failure);
    expect(await medium.list()).toEqual([]);
  });
});

/** With a table that stays on the device. */
const MIGRATED_SCHEMA = decodeSchema(
  encodeSchema(
    buildSchema([
      ...TEST_TABLES,
      table('drafts', [column('id', 'text', { notNull: true }), column('body', 'text')], { synced: false }),
    ]),
  ),
);

const migration = (tag: string, ...statements: string[]): Migration => ({
  tag,
  sql: statements.join('\n--> statement-breakpoint\n'),
});

const CREATE_TABLES = migration(
  '0000_tables',
  // In an order of columns other than that of the schema.
  createTableSql({ ...ACCOUNTS, columns: ACCOUNTS.columns.toReversed() }),
  ...TEST_TABLES.filter((one) => one !== ACCOUNTS).flatMap(tableToDdl),
);

const CREATE_MORE = migration(
  '0001_more',
  'CREATE TABLE drafts (id text PRIMARY KEY NOT NULL, body text)',
  "INSERT INTO drafts VALUES ('welcome', 'Write here')",
  'CREATE TABLE visits (id integer PRIMARY KEY AUTOINCREMENT, page text)',
  "INSERT INTO visits (page) VALUES ('home')",
  'CREATE INDEX entries_by_amount ON entries (amount)',
  'CREATE VIEW rich_entries AS SELECT id FROM entries WHERE amount > 400',
  'CREATE TRIGGER label_account AFTER UPDATE OF name ON accounts BEGIN INSERT INTO labels VALUES (NEW.id, 1); END',
);

const MIGRATED = { schema: MIGRATED_SCHEMA, migrations: [CREATE_TABLES, CREATE_MORE] };

/** Everything that migrations create: definitions, and the rows of tables that are not synced. */
function created({ connection }: OpenDatabase): unknown {
  return [
    'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2',
    'SELECT * FROM drafts',
    'SELECT * FROM visits',
    'SELECT * FROM sqlite_sequence',
    "SELECT name, cid FROM pragma_table_info('accounts')",
  ].map((sql) => connection.rows(sql));
}

/** Storage calls at which the worker dies, spread evenly. */
const DEATHS = atLevel({ test: 4, verify: 24 });

describe('a first sync of an app with migrations', () => {
  const migrated = (medium: Medium): FirstSyncOptions => options(medium, MIGRATED);

  it('creates what the migrations create, with the rows of the server', async () => {
    await fillServer();
    const medium = memoryMedium();
    expect(await firstSync(migrated(medium))).toBe(true);
    const byMigrations = openInMemory(MIGRATED);
    await opened(
      medium,
      (database) => {
        expect(created(database)).toEqual(created(byMigrations));
        expect(database.connection.rows('PRAGMA integrity_check')).toEqual([['ok']]);
        expect(database.connection.rows('SELECT * FROM accounts')).toEqual([[2n ** 62n, 'Cash', 'a']]);
        expect(database.connection.rows('SELECT count(*), sum(amount) FROM entries')).toEqual([[500, 124_750]]);
        expect(database.connection.rows('SELECT count(*) FROM rich_entries')).toEqual([[99]]);
        expect(
          database.connection.value("SELECT count(*) FROM accounts_search WHERE accounts_search MATCH 'cash'"),
        ).toBe(1);
        database.write({ id: 'w', statements: [{ sql: "UPDATE accounts SET name = 'Purse'", params: [] }] });
        expect(database.connection.rows('SELECT * FROM labels')).toEqual([['a', 1]]);
      },
      MIGRATED,
    );
    byMigrations.close();
    expect((await medium.list()).filter((name) => name.includes('~'))).toEqual([]);
  });

  it('continues the stream from the snapshot’s position', async () => {
    await fillServer();
    const medium = memoryMedium();
    await firstSync(migrated(medium));
    const site = new TestSite();
    await opened(
      medium,
      ({ meta }) => {
        expect(meta.databaseIdentity).toHaveLength(16);
        expect(meta.wantsFullResync).toBe(false);
        site.logEpoch = meta.logEpoch;
        site.cursor = meta.cursor;
        site.logHashes.set(site.cursor, meta.cursorHash);
      },
      MIGRATED,
    );
    const writer = await tested.server.open();
    await writer.commit([update('accounts', 'a', { rank: 1n })]);
    const { welcome, first } = await (await tested.server.connect(site)).open(await tested.server.token(), DATABASE);
    expect(welcome.fullResync).toBe(false);
    expect(first).toMatchObject({ from: 3, to: 4 });
  });

  it('is a database on which later migrations run', async () => {
    await fillServer();
    const medium = memoryMedium();
    await firstSync(migrated(medium));
    await opened(medium, () => undefined, MIGRATED);
    const later = migration('0002_later', 'DROP TRIGGER label_account', 'DROP VIEW rich_entries', 'DROP TABLE visits');
    await opened(medium, ({ connection }) => expect(connection.value('SELECT count(*) FROM entries')).toBe(500), {
      ...MIGRATED,
      migrations: [...MIGRATED.migrations, later],
    });
  });

  it('leaves all rows or none if the worker dies at any storage call', async () => {
    await fillServer();

    /** Returns the number of calls. */
    async function dyingAt(call: number): Promise<number> {
      const { next, calls } = await afterDeathAt(call, MIGRATED);
      const hasFilled = await firstSync(migrated(next));
      await opened(
        next,
        (database) => {
          const { connection, meta } = database;
          expect(connection.rows('PRAGMA integrity_check')).toEqual([['ok']]);
          expect(connection.value('SELECT count(*) FROM drafts')).toBe(1);
          expect(connection.value("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")).toBe(1);
          const rows = connection.value('SELECT count(*) FROM entries');
          expect([rows, meta.cursor, meta.logEpoch === null]).toEqual(
            hasFilled || meta.cursor > 0 ? [500, 3, false] : [0, 0, true],
          );
        },
        MIGRATED,
      );
      return calls;
    }
    const calls = await dyingAt(Infinity);
    expect(calls).toBeGreaterThan(20);
    for (let call = 1; call <= calls; call += Math.ceil(calls / DEATHS)) await dyingAt(call);
  });

  it('is repeated after an opening that created files, but no database', async () => {
    await fillServer();
    const medium = memoryMedium();
    const failing = {
      ...MIGRATED,
      migrations: [...MIGRATED.migrations, migration('0002_broken', 'DROP TABLE nowhere')],
    };
    const line = cutting(0, 0);
    for (let opening = 1; opening <= 2; opening++) {
      await expect(firstSync(options(medium, { ...failing, fetch: line.fetch }))).rejects.toMatchObject({
        code: 'migration-failed',
        fields: { migration: '0002_broken' },
      });
      await expect(opened(medium, () => undefined, failing)).rejects.toMatchObject({ code: 'migration-failed' });
    }
    // The second opening downloads nothing.
    expect(line.asked).toEqual([null]);
    expect(await medium.list()).not.toEqual([]);
    expect(await firstSync(migrated(medium))).toBe(true);
    await opened(
      medium,
      ({ connection }) => expect(connection.value('SELECT count(*) FROM entries')).toBe(500),
      MIGRATED,
    );
    expect(await firstSync(migrated(medium))).toBe(false);
  });

  it('keeps a database whose content is still in its log', async () => {
    await fillServer();
    const disk = new SimulatedDisk();
    const medium = disk.medium();
    const storage = await openStorage({ name: 'budget', medium, role: 'writer' });
    storage.register(testRuntime.module);
    const database = openDatabase({
      runtime: testRuntime,
      path: storage.path,
      vfsName: storage.vfsName,
      role: 'writer',
      ...MIGRATED,
      randomBytes: (count) => new Uint8Array(randomBytes(count)),
      nowMs: Date.now,
    });
    database.write({ id: 'w', statements: [{ sql: "INSERT INTO drafts VALUES ('mine', 'x')", params: [] }] });
    medium.kill();
    const next = disk.medium();
    expect(await storageSizes('budget', next)).toMatchObject({ databaseBytes: 0 });
    expect(await firstSync(migrated(next))).toBe(false);
    await opened(next, ({ connection }) => expect(connection.value('SELECT count(*) FROM drafts')).toBe(2), MIGRATED);
  });

  it('stores nothing if the server offers no snapshot', async () => {
    const medium = memoryMedium();
    const none = { ...MIGRATED, fetch: async () => new Response(null, { status: 204 }) };
    expect(await firstSync(options(medium, none))).toBe(false);
    expect(await medium.list()).toEqual([]);
  });
});
