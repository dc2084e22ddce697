import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it, onTestFinished } from 'vitest';
import { insert, remove, update } from '../../testing/changeset.ts';
import { holdingAnswers } from '../../testing/held-answers.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { readByteRange } from '../routes/byte-range.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { Snapshots, type LogPosition, type Snapshot, type SnapshotsOptions } from './snapshots.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const tested = serverUnderTest({ snapshots: { minFileBytes: 1, maxTailChangesets: 2 } });
const PATH = `/databases/${DATABASE}/snapshot?schema=${TEST_SCHEMA.hash}`;

async function download(headers: Record<string, string> = {}): Promise<{ response: Response; bytes: Buffer }> {
  const response = await tested.server.ask('GET', PATH, { token: await tested.server.token('viewer'), headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function filled(): Promise<TestConnection> {
  const connection = await tested.server.open();
  await connection.commit([
    insert('accounts', 'a', { name: 'Cash', rank: 2n ** 62n }),
    insert('entries', 'e', { account_id: 'a', amount: 5n, note: 'lunch', weight: 0.5, receipt: Uint8Array.of(0, 255) }),
  ]);
  await connection.commit([insert('accounts', 'gone', { name: 'gone' }), insert('labels', ['x', 7n], {})]);
  await connection.commit([remove('accounts', 'gone')]);
  return connection;
}

describe('a snapshot', () => {
  it('is a SQLite file of the state at a watermark, from which a session continues', async () => {
    const writer = await filled();
    const { response, bytes } = await download();
    expect(response.status).toBe(200);
    expect(response.headers.get('rockpool-sha256')).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(response.headers.get('rockpool-watermark')).toBe('3');
    const plain = gunzipSync(bytes);
    expect(String(plain.length)).toBe(response.headers.get('rockpool-size'));
    const path = join(temporaryFolder(), 'snapshot.sqlite');
    writeFileSync(path, plain);
    const file = new DatabaseSync(path, { readBigInts: true, returnArrays: true });
    const all = (sql: string): unknown => file.prepare(sql).all();
    expect(all('PRAGMA integrity_check')).toEqual([['ok']]);
    expect(all('PRAGMA page_size')).toEqual([[8192n]]);
    expect(all('SELECT id, name, rank FROM accounts')).toEqual([['a', 'Cash', 2n ** 62n]]);
    expect(all('SELECT id, account_id, amount, note, weight, receipt FROM entries')).toEqual([
      ['e', 'a', 5n, 'lunch', 0.5, Uint8Array.of(0, 255)],
    ]);
    expect(all('SELECT entry_id, position FROM labels')).toEqual([['x', 7n]]);
    // The snapshot has the system tables that clients have, but not the server's internal tables.
    expect(all(`SELECT name FROM sqlite_schema WHERE name LIKE 'rockpool%' ORDER BY name`)).toEqual([
      ['rockpool_conflict'],
      ['rockpool_conflict_row'],
      ['rockpool_document'],
      ['rockpool_snapshot'],
    ]);
    const [[schemaHash, logEpoch, watermark, logHash]] = all(
      'SELECT schema_hash, epoch, watermark, link FROM rockpool_snapshot',
    ) as [[string, Uint8Array, bigint, Uint8Array]];
    expect({ schemaHash, watermark }).toEqual({ schemaHash: TEST_SCHEMA.hash, watermark: 3n });
    file.close();

    await writer.commit([update('accounts', 'a', { name: 'Bank' })]);
    const site = new TestSite();
    site.logEpoch = logEpoch;
    site.cursor = Number(watermark);
    site.logHashes.set(Number(watermark), logHash);
    const { welcome, first } = await (await tested.server.connect(site)).open(await tested.server.token(), DATABASE);
    expect(welcome.fullResync).toBe(false);
    expect(first).toMatchObject({ from: 3, to: 4, groups: [{ kind: 'update', keys: [['a']], values: [['Bank']] }] });
  });

  it('resumes a cut download, unless it has been replaced', async () => {
    const writer = await filled();
    const whole = await download();
    const etag = whole.response.headers.get('etag') as string;
    const rest = await download({ range: 'bytes=100-', 'if-range': etag });
    expect(rest.response.status).toBe(206);
    expect(rest.response.headers.get('content-range')).toBe(
      `bytes 100-${whole.bytes.length - 1}/${whole.bytes.length}`,
    );
    expect(Buffer.concat([whole.bytes.subarray(0, 100), rest.bytes]).equals(whole.bytes)).toBe(true);
    expect((await download({ range: `bytes=${whole.bytes.length}-`, 'if-range': etag })).response.status).toBe(416);
    // Two more changesets are within the tail; the third is one too many.
    for (const rank of [1n, 2n]) await writer.commit([update('accounts', 'a', { rank })]);
    expect((await download()).response.headers.get('etag')).toBe(etag);
    await writer.commit([update('accounts', 'a', { rank: 3n })]);
    const other = await download({ range: 'bytes=100-', 'if-range': etag });
    expect(other.response.status).toBe(200);
    expect(other.response.headers.get('rockpool-watermark')).toBe('6');
  });

  it('is built once for concurrent requests, while writers continue', async () => {
    const writer = await filled();
    const asked = [download(), download(), download()];
    for (let rank = 0n; rank < 2n; rank++)
      expect(await writer.commit([update('accounts', 'a', { rank })])).toMatchObject({ kind: 'admitted' });
    const etags = (await Promise.all(asked)).map(({ response }) => response.headers.get('etag'));
    expect(new Set(etags).size).toBe(1);
  });

  it('that waits for others is refused while the server stops', async () => {
    await filled();
    const path = tested.server.pathOf();
    const snapshots = new Snapshots({
      ...{ dataDir: temporaryFolder(), pathOf: () => path, requireIntact: () => Promise.resolve() },
      rules: { minFileBytes: 1, maxTailChangesets: 2 },
    });
    const position = { logEpoch: '', watermark: 3, tombstoneHorizon: 0, schemaHash: TEST_SCHEMA.hash };
    const build = (databaseId: string): Promise<unknown> =>
      snapshots.get(databaseId, position, 'everything').catch((error: unknown) => error);
    await holdingAnswers(async ({ begun, release }) => {
      const builds = [build('a'), build('b')];
      await begun;
      const closed = snapshots.close();
      release();
      await closed;
      expect(await Promise.all([...builds, build('a'), build('c')])).toEqual([
        expect.objectContaining({ watermark: 3 }),
        expect.objectContaining({ code: 'database-unavailable' }),
        expect.objectContaining({ code: 'database-unavailable' }),
        expect.objectContaining({ code: 'database-unavailable' }),
      ]);
    });
  });

  it('is answered with 202 while it is being built, if the client does not wait', async () => {
    await filled();
    const token = await tested.server.token();
    const ask = (waitMs: number): Promise<Response> =>
      tested.server.ask('GET', `/databases/${DATABASE}/snapshot?schema=${TEST_SCHEMA.hash}&waitMs=${waitMs}`, {
        token,
      });
    await holdingAnswers(async () => {
      const early = await ask(0);
      expect([early.status, early.headers.get('cache-control'), (await early.arrayBuffer()).byteLength]).toEqual([
        202,
        'no-store',
        0,
      ]);
    });
    const built = await ask(60_000);
    expect([built.status, built.headers.get('rockpool-watermark')]).toEqual([200, '3']);
    await built.body?.cancel();
  });

  it('is cleaned up by deleting its own files only', async () => {
    await filled();
    await download();
    const directory = join(tested.server.dataDir, 'snapshots');
    writeFileSync(join(directory, 'holiday.jpg'), 'not ours');
    const files = (): string[] => readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(isFile);
    const isFile = (name: string): boolean => name.includes('.');
    expect(files()).toHaveLength(2);
    await tested.restart();
    expect(files()).toEqual(['holiday.jpg']);
  });

  it('is refused for a different schema', async () => {
    await filled();
    const token = await tested.server.token();
    const other = await tested.server.ask('GET', `/databases/${DATABASE}/snapshot?schema=${'0'.repeat(32)}`, { token });
    expect(await other.json()).toMatchObject({ code: 'schema-mismatch', recovery: 'upgrade' });
  });
});

describe('the snapshots of a server', () => {
  /** Snapshots of one empty database, each of which is replaced as soon as the log grows. */
  function open(requireIntact: SnapshotsOptions['requireIntact']): {
    readonly get: (position?: Partial<LogPosition>) => ReturnType<Snapshots['get']>;
    readonly files: () => readonly string[];
  } {
    const dataDir = temporaryFolder();
    const path = join(dataDir, 'a.sqlite');
    openDatabaseFile(path, TEST_SCHEMA).sql.close();
    const snapshots = new Snapshots({
      ...{ dataDir, requireIntact, pathOf: () => path },
      rules: { minFileBytes: 0, maxTailChangesets: 0 },
    });
    onTestFinished(() => snapshots.close());
    const start = { logEpoch: '', watermark: 0, tombstoneHorizon: 0, schemaHash: TEST_SCHEMA.hash };
    return {
      get: (position) => snapshots.get('a', { ...start, ...position }, 'everything'),
      files: () => readdirSync(join(dataDir, 'snapshots')),
    };
  }

  it('include none of a damaged database, and a later one is built after one could not be', async () => {
    let isDamaged = true;
    const { get } = open(() => (isDamaged ? Promise.reject(new RockpoolError('database-damaged')) : Promise.resolve()));
    await expect(get()).rejects.toMatchObject({ code: 'database-damaged' });
    isDamaged = false;
    expect(await get()).toMatchObject({ watermark: 0 });
  });

  it('are used while they belong to the same log and schema, and then replaced and deleted', async () => {
    const { get, files } = open(() => Promise.resolve());
    const { logEpoch, path } = (await get()) as Snapshot;
    expect(await get({ logEpoch })).toMatchObject({ path });
    const paths: unknown[] = [path];
    for (const other of [{ logEpoch: 'other' }, { logEpoch, watermark: 1 }, { logEpoch, schemaHash: 'other' }]) {
      paths.push((await get(other))?.path);
      expect(files()).toHaveLength(1);
    }
    expect(new Set(paths).size).toBe(4);
  });
});

describe('readByteRange', () => {
  it.each([
    [null, null],
    ['bytes=0-', { start: 0, end: 10 }],
    ['bytes=3-5', { start: 3, end: 6 }],
    ['bytes=3-99', { start: 3, end: 10 }],
    ['bytes=10-', 'beyond'],
    ['bytes=5-3', null],
    ['bytes=-3', null],
    ['bytes=0-1,3-4', null],
    ['lines=1-', null],
  ])('reads %s as %o', (header, range) => {
    expect(readByteRange(header, 10)).toEqual(range);
  });
});
