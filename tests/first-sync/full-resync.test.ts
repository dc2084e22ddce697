import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryMedium, type Medium } from '#vfs-opfs/index.ts';
import { storageFileNames } from '#vfs-opfs/storage-name.ts';
import { SimulatedDisk } from '#vfs-opfs/testing/index.ts';
import { STORED_NAME } from '#client/testing/worker/test-database.ts';
import { atLevel } from '#kit/level.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { encodeDocumentCell } from '#shared/document/index.ts';
import { insert, remove, update } from '#sync-server/testing/changeset.ts';
import { serverUnderTest } from '#sync-server/testing/server-under-test.ts';
import type { TestConnection } from '#sync-server/testing/test-client.ts';
import { TestServer } from '#sync-server/testing/test-server.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { SnapshotDevice, type SnapshotDeviceOptions } from './snapshot-device.ts';
import { fetchBuilt } from './test-snapshots.ts';

const SNAPSHOTS = { minFileBytes: 1, maxTailChangesets: 2 };
const tested = serverUnderTest({ snapshots: SNAPSHOTS });
const devices: SnapshotDevice[] = [];
afterEach(async () => {
  for (const device of devices.splice(0)) await device.close();
});

async function device(options: Partial<SnapshotDeviceOptions> = {}): Promise<SnapshotDevice> {
  const opened = await SnapshotDevice.open({ server: () => tested.server, ...options });
  devices.push(opened);
  return opened;
}

/** A new document. */
const content = (json: string): Uint8Array => encodeDocumentCell({ kind: 'content', json });
const note = (): string => `note ${randomBytes(20).toString('hex')}`;

async function fillServer(): Promise<TestConnection> {
  const writer = await tested.server.open();
  await writer.commit([
    insert('accounts', 'a', { name: 'Cash', rank: 2n ** 62n }),
    insert('products', 'p', { stock: 10n, name: 'tea' }),
  ]);
  await writer.commit([insert('pages', 'd', { title: 'page', content: content('{"body":"one"}') })]);
  await writer.commit(
    Array.from({ length: 500 }, (_, i) =>
      insert('entries', `e${i}`, { account_id: 'a', amount: BigInt(i), note: note(), weight: i / 2 }),
    ),
  );
  return writer;
}

/** Requests a full resync, as for a device that was offline for too long. */
function askForAll({ database }: SnapshotDevice): void {
  database.meta.set('wants_whole', 1);
}

/** Storage calls at which the worker dies, spread evenly. */
const DEATHS = atLevel({ test: 3, verify: 12 });

describe('a full resync of a database in use', () => {
  it('arrives as a file, and keeps the pending writes on top', async () => {
    await fillServer();
    const mine = await device();
    mine.write("INSERT INTO accounts (id, name) VALUES ('m', 'Mine')");
    const { siteId } = mine.database;
    mine.start();
    await mine.upToDate();
    expect(mine.problems).toEqual([]);
    expect(mine.fullResyncs).toEqual([3]);
    expect(mine.rows('SELECT count(*), sum(amount) FROM entries')).toEqual([[500, 124_750]]);
    expect(mine.rows('SELECT id, name, rank FROM accounts ORDER BY id')).toEqual([
      ['a', 'Cash', 2n ** 62n],
      ['m', 'Mine', null],
    ]);
    expect(tested.server.query("SELECT name FROM accounts WHERE id = 'm'")).toEqual([['Mine']]);
    expect(mine.database.siteId).toEqual(siteId);
    expect(mine.report?.snapshot).toBeNull();
    expect(mine.progress.at(-1)).toEqual({
      receivedBytes: mine.progress.at(-1)?.totalBytes,
      totalBytes: mine.progress.at(-1)?.totalBytes,
    });
    expect(
      mine.rows(
        "SELECT name FROM accounts WHERE rowid IN (SELECT rowid FROM accounts_search WHERE accounts_search MATCH 'cash OR mine') ORDER BY name",
      ),
    ).toEqual([['Cash'], ['Mine']]);
  });

  it('writes only what differs and notifies live queries once', async () => {
    const writer = await fillServer();
    const [mine, editing] = [await device(), await device()];
    const edit = async (body: string): Promise<void> => {
      editing.write(`UPDATE pages SET content = '{"body":"${body}"}'`);
      await editing.upToDate();
    };
    editing.start();
    await editing.upToDate();
    await edit('one or two');
    mine.start();
    await mine.upToDate();
    mine.stop();
    await edit('one or two or three');
    await writer.commit([
      update('entries', 'e1', { note: 'other' }),
      remove('entries', 'e2'),
      insert('entries', 'new', { amount: 1n }),
    ]);
    await writer.commit([update('accounts', 'a', { name: 'Swap' })]);
    await writer.commit([insert('accounts', 'b', { name: 'Cash' })]);
    // A table that exists only here, and a damaged value that the server does not know.
    mine.database.connection.exec(
      "CREATE TABLE own (id INTEGER PRIMARY KEY); INSERT INTO own VALUES (1); UPDATE entries SET note = 'damaged' WHERE id = 'e3'",
    );
    askForAll(mine);
    mine.notified.length = 0;
    const before = mine.database.connection.totalChanges;
    mine.start();
    await mine.upToDate();
    expect(mine.fullResyncs).toEqual([3, 8]);
    // The changed rows are deleted and inserted: 4 of entries, 2 of accounts, a document with its state; and some rows
    // of Rockpool's tables.
    expect(mine.database.connection.totalChanges - before).toBeLessThan(60);
    expect(mine.notified.map(({ tables }) => [...tables].sort())).toEqual([['accounts', 'entries', 'pages']]);
    expect(mine.rows('SELECT id, name FROM accounts ORDER BY id')).toEqual([
      ['a', 'Swap'],
      ['b', 'Cash'],
    ]);
    expect(mine.rows("SELECT id, note FROM entries WHERE id IN ('e1', 'e2', 'e3', 'new') ORDER BY id")).toEqual([
      ['e1', 'other'],
      ['e3', expect.stringMatching(/^note /) as string],
      ['new', null],
    ]);
    expect(mine.rows('SELECT content FROM pages')).toEqual([['{"body":"one or two or three"}']]);
    expect(mine.rows('SELECT * FROM own')).toEqual([[1]]);
    expect(
      mine.rows(
        "SELECT name FROM accounts WHERE rowid IN (SELECT rowid FROM accounts_search WHERE accounts_search MATCH 'swap')",
      ),
    ).toEqual([['Swap']]);
    mine.write('UPDATE pages SET content = \'{"body":"one or two or three or four"}\'');
    await mine.upToDate();
    expect(tested.server.query('SELECT content FROM pages')).toEqual([['{"body":"one or two or three or four"}']]);
  });

  it('continues from its file if unique values were swapped after it', async () => {
    const writer = await fillServer();
    await writer.commit([insert('accounts', 'b', { name: 'Bank' })]);
    const early = await device();
    early.start();
    await early.upToDate();
    await writer.commit([update('accounts', 'a', { name: 'Bank' }), update('accounts', 'b', { name: 'Cash' })]);
    const late = await device();
    late.start();
    await late.upToDate();
    expect(late.fullResyncs).toEqual([4]);
    expect(late.rows('SELECT id, name FROM accounts ORDER BY id')).toEqual([
      ['a', 'Bank'],
      ['b', 'Cash'],
    ]);
  });

  it('counts an admitted addition once if its outcome was lost, and keeps pending writes on top', async () => {
    const writer = await fillServer();
    const mine = await device();
    mine.start();
    await mine.upToDate();
    mine.accepts = () => false;
    mine.write("UPDATE products SET stock = stock + 5 WHERE id = 'p'");
    await mine.until(() => tested.server.query("SELECT stock FROM products WHERE id = 'p'")[0]?.[0] === 15n);
    mine.stop();
    mine.accepts = () => true;
    mine.write("UPDATE products SET stock = stock + 7, name = 'mine' WHERE id = 'p'");
    await writer.commit([update('products', 'p', { stock: 100n })]);
    askForAll(mine);
    mine.start();
    await mine.upToDate();
    for (const rows of [
      mine.rows('SELECT stock, name FROM products'),
      tested.server
        .query('SELECT stock, name FROM products')
        .map((row) => row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell))),
    ])
      expect(rows).toEqual([[122, 'mine']]);
    expect(mine.rows('SELECT count(*) FROM rockpool_base')).toEqual([[0]]);
  });

  it('continues while a slow device stores the file', async () => {
    const writer = await fillServer();
    await writer.commit([
      insert('entries', 'large', { amount: 1n, receipt: new Uint8Array(randomBytes(2 * 1024 * 1024)) }),
    ]);
    const mine = await device();
    mine.start();
    await mine.upToDate();
    // Each report of progress also reaches the state machine, which continues to wait.
    expect(
      mine.progress.filter(({ receivedBytes, totalBytes }) => receivedBytes === totalBytes).length,
    ).toBeGreaterThan(3);
  });

  it('resumes a cut download, also on the next connection', async () => {
    await fillServer();
    const asked: (string | null)[] = [];
    let cuts = 7;
    const mine = await device({
      fetch: async (input, init) => {
        asked.push(new Headers(init?.headers).get('range'));
        const response = await fetchBuilt(input, init);
        if (asked.length === 1)
          return new Response(response.body?.pipeThrough(firstBytes(1_000)), {
            status: response.status,
            headers: response.headers,
          });
        if (cuts-- > 0) throw new TypeError('no network');
        return response;
      },
    });
    mine.start();
    await mine.until(() => mine.states.includes('offline'));
    await mine.upToDate();
    expect(asked[0]).toBeNull();
    expect(new Set(asked.slice(1))).toEqual(new Set(['bytes=1000-']));
    expect(mine.fullResyncs).toEqual([3]);
    expect(mine.rows('SELECT count(*) FROM entries')).toEqual([[500]]);
  });

  it('is downloaded again if the server was restored from a backup meanwhile', async () => {
    const writer = await fillServer();
    const folder = join(tested.server.dataDir, 'databases');
    await writer.close();
    await tested.restart();
    const kept = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
    const later = await tested.server.open(writer.site);
    await later.commit([insert('accounts', 'late', { name: 'too late' })]);
    let isPutBack = false;
    const mine = await device({
      fetch: async (input, init) => {
        const response = await fetchBuilt(input, init);
        if (isPutBack) return response;
        isPutBack = true;
        const body = await response.arrayBuffer();
        await tested.restart(() => {
          for (const [name, bytes] of kept) writeFileSync(join(folder, name), bytes);
        });
        // The restored server has continued since, with a different log.
        const other = await tested.server.open();
        await other.commit([insert('accounts', 'after', { name: 'after the restore' })]);
        return new Response(body, { status: response.status, headers: response.headers });
      },
    });
    mine.write("INSERT INTO accounts (id, name) VALUES ('m', 'Mine')");
    mine.start();
    await mine.upToDate();
    expect(mine.rows('SELECT name FROM accounts ORDER BY name')).toEqual([['Cash'], ['Mine'], ['after the restore']]);
    expect(mine.fullResyncs).toEqual([4]);
  });

  it('is complete or absent if the worker dies at any storage call', async () => {
    const writer = await fillServer();
    const disk = new SimulatedDisk();
    const first = await SnapshotDevice.open({ server: () => tested.server, medium: disk.medium() });
    first.start();
    await first.upToDate();
    await first.close();
    await writer.commit([
      ...Array.from({ length: 300 }, (_, i) => update('entries', `e${i}`, { note: note() })),
      update('accounts', 'a', { name: 'New' }),
    ]);
    const files = new Map(storageFileNames(STORED_NAME).map((name) => [name, bytesOf(disk, name)]));
    const tidy = await tested.server.open();

    /** Returns the number of calls. */
    async function dyingAt(call: number): Promise<number> {
      const copy = new SimulatedDisk({ files });
      const medium = copy.medium();
      const mine = await SnapshotDevice.open({ server: () => tested.server, medium });
      mine.write("UPDATE accounts SET rank = 1 WHERE id = 'a'");
      askForAll(mine);
      let calls = 0;
      let isDead = false;
      copy.observer = () => {
        if (isDead || ++calls < call) return;
        isDead = true;
        medium.kill();
        throw new Error('killed');
      };
      mine.start();
      await mine.until(() => isDead || mine.report?.state === 'up-to-date');
      copy.observer = undefined;
      if (!isDead) await mine.close();
      else mine.stop();
      const again = await SnapshotDevice.open({ server: () => tested.server, medium: copy.medium() });
      expect(again.rows('PRAGMA integrity_check')).toEqual([['ok']]);
      expect(again.rows("SELECT count(*) FROM entries WHERE note LIKE 'note%'")).toEqual([[500]]);
      const isNew = again.database.meta.cursor > 3;
      expect(again.rows('SELECT name, rank FROM accounts')).toEqual([[isNew ? 'New' : 'Cash', 1]]);
      again.start();
      await again.upToDate();
      expect(again.rows('SELECT name, rank FROM accounts')).toEqual([['New', 1]]);
      await again.close();
      // No temporary file is left.
      expect((await copy.medium().list()).filter((name) => name.includes('~'))).toEqual([]);
      return calls;
    }
    const calls = await dyingAt(Infinity);
    expect(calls).toBeGreaterThan(20);
    for (let call = 1; call <= calls; call += Math.ceil(calls / DEATHS)) await dyingAt(call);
    await tidy.close();
  });
});

it('is not downloaded repeatedly from a server that accepts none of its files', async () => {
  const writer = await fillServer();
  let asked = 0;
  const other = { logEpoch: randomBytes(16), watermark: 1, logHash: randomBytes(16) };
  const mine = await device({ held: () => (++asked, other) });
  mine.start();
  await mine.upToDate();
  expect(asked).toBe(3);
  expect(mine.rows('SELECT count(*) FROM entries')).toEqual([[500]]);
  await writer.close();
});

it('refuses a file of a different database before it offers it to the server', async () => {
  await fillServer();
  const other = await TestServer.start(temporaryFolder(), { snapshots: SNAPSHOTS });
  await other.sync.ready();
  const writer = await other.open();
  await writer.commit([insert('accounts', 'x', { name: 'Foreign' })]);
  let { host } = tested.server;
  let asked = 0;
  const mine = await device({
    fetch: (input, init) => {
      asked++;
      return fetchBuilt((input as string).replace(/^http:..[^/]+/, `http://${host}`), init);
    },
  });
  mine.start();
  await mine.upToDate();
  mine.stop();
  askForAll(mine);
  [host, asked] = [other.host, 0];
  mine.start();
  await mine.upToDate();
  expect(mine.problems).toMatchObject([{ code: 'database-mismatch' }]);
  expect(asked).toBe(1);
  expect(mine.rows('SELECT name FROM accounts')).toEqual([['Cash']]);
  await writer.close();
  await other.stop();
});

describe('a full resync by deliveries', () => {
  it.each<[string, Partial<SnapshotDeviceOptions>]>([
    ['HTTP is blocked', { fetch: () => Promise.reject(new TypeError('failed to fetch')) }],
    ['the server offers no file', { fetch: async () => new Response(null, { status: 204 }) }],
    ['the file is damaged on the way', { fetch: async (...given) => damaged(await fetchBuilt(...given)) }],
    ['the device has no space for a file', { medium: fullMedium() }],
    ['the device takes no files', { takesFiles: false }],
  ])('completes if %s', async (_, options) => {
    await fillServer();
    const mine = await device(options);
    mine.start();
    await mine.upToDate();
    expect(mine.rows('SELECT count(*) FROM entries')).toEqual([[500]]);
    expect(mine.fullResyncs).toEqual([]);
  });
});

function bytesOf(disk: SimulatedDisk, name: string): Uint8Array {
  const file = disk.file(name);
  const bytes = new Uint8Array(file?.sizeBytes ?? 0);
  file?.read(bytes, 0);
  return bytes;
}

function firstBytes(count: number): TransformStream<Uint8Array, Uint8Array> {
  let left = count;
  return new TransformStream({
    transform(chunk, controller): void {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.error(new Error('cut'));
    },
  });
}

async function damaged(response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  return new Response(bytes, { status: response.status, headers: response.headers });
}

function fullMedium(): Medium {
  return { ...memoryMedium(), freeBytes: async () => 1_000 };
}
