import { randomUUID } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { ADMIN_TOKEN, askAdmin } from '../../testing/admin-client.ts';
import { insert } from '../../testing/changeset.ts';
import { deliveredRows } from '../../testing/delivered-rows.ts';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { TestServer } from '../../testing/test-server.ts';
import { createSyncServer } from '../create-sync-server.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { ownerOf } from './owner-of.ts';

const THREADS = 2;
/** Two databases of different threads. */
const [HERE, ELSEWHERE] = [0, 1].map((owner) =>
  Array.from({ length: 50 }, (_, i) => `household-${i}`).find((id) => ownerOf(id, THREADS) === owner),
) as [string, string];

const workers: Worker[] = [];
const collect = (worker: Worker): void => void workers.push(worker);
let server: TestServer;

async function start(options: Parameters<typeof TestServer.start>[1] = {}): Promise<void> {
  server = await TestServer.start(temporaryFolder(), { threads: THREADS, ...options });
  await server.sync.ready();
}

beforeEach(() => {
  workers.length = 0;
  process.on('worker', collect);
});
afterEach(async () => {
  process.off('worker', collect);
  await server.stop();
});

/** The latest thread that owns a database. */
function threadOf(databaseId: string): Worker {
  return workers[ownerOf(databaseId, THREADS)] as Worker;
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://${server.host}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

async function delivers(databaseId: string, key: string): Promise<void> {
  const writer = await server.open(undefined, { databaseId });
  const readers = [await server.open(undefined, { databaseId }), await server.open(undefined, { databaseId })];
  expect(await writer.commit([insert('accounts', key, { name: databaseId })])).toMatchObject({ kind: 'admitted' });
  for (const reader of readers)
    expect(deliveredRows(await reader.delivery(), 'accounts').map((row) => row.key)).toEqual([[key]]);
}

it('threads commit the pushes of their databases and deliver to every session', async () => {
  await start();
  for (const databaseId of [HERE, ELSEWHERE]) await delivers(databaseId, 'x');
  expect(workers).toHaveLength(THREADS);
  expect(await metric('rockpool_threads')).toBe(THREADS);
});

it('threads that end are replaced: their sessions fail, other sessions continue, and nothing acknowledged is lost', async () => {
  await start();
  const here = await server.open(undefined, { databaseId: HERE });
  const elsewhere = await server.open(undefined, { databaseId: ELSEWHERE });
  await here.commit([insert('accounts', 'before', { name: 'before' })]);
  await threadOf(HERE).terminate();
  expect(await here.failure()).toMatchObject({ code: 'database-unavailable' });
  expect(await elsewhere.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
  await server.logged('thread-ended');
  expect(await metric('rockpool_thread_restarts_total')).toBe(1);
  while (workers.length === THREADS) await new Promise((resolve) => process.once('worker', resolve));
  const again = await server.open(here.site, { databaseId: HERE });
  expect(await again.commit([insert('accounts', 'after', { name: 'after' })])).toMatchObject({ kind: 'admitted' });
  expect(server.query('SELECT id FROM accounts ORDER BY id', HERE)).toEqual([['after'], ['before']]);
});

it('threads commit a push again, exactly once, if a thread ended while it was deciding the push', async () => {
  await start();
  const writer = await server.open(undefined, { databaseId: HERE });
  const rows = Array.from({ length: 8_000 }, (_, i) => insert('accounts', `k${i}`, { name: `${i}` }));
  writer.site.write(rows);
  writer.push();
  await writer.roundTrip();
  await threadOf(HERE).terminate();
  await writer.closes();
  while (workers.length === THREADS) await new Promise((resolve) => process.once('worker', resolve));
  const again = await server.open(writer.site, { databaseId: HERE });
  if (again.site.lastAckedSequence === 0) {
    again.push();
    await again.decided(1);
  }
  expect(server.query('SELECT count(*) FROM accounts', HERE)).toEqual([[BigInt(rows.length)]]);
  expect(server.query('SELECT count(*) FROM rockpool_log', HERE)).toEqual([[1n]]);
});

it('threads keep a drained database closed when its thread is replaced', async () => {
  await start({ admin: { token: ADMIN_TOKEN } });
  const here = await server.open(undefined, { databaseId: HERE });
  const elsewhere = await server.open(undefined, { databaseId: ELSEWHERE });
  expect((await askAdmin(server, 'POST', `/databases/${HERE}/drain`)).status).toBe(200);
  expect(await here.failure()).toMatchObject({ code: 'database-unavailable' });
  await threadOf(HERE).terminate();
  while (workers.filter(({ threadId }) => threadId > 0).length < THREADS)
    await new Promise((resolve) => process.once('worker', resolve));
  const refused = await server.connect(here.site);
  refused.hello(await server.token('editor', 'ann', HERE), HERE);
  expect(await refused.failure()).toMatchObject({ code: 'database-unavailable' });
  expect(await elsewhere.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
  expect((await askAdmin(server, 'POST', `/databases/${HERE}/open`)).status).toBe(204);
  const again = await server.open(here.site, { databaseId: HERE });
  expect(await again.commit([insert('accounts', 'y', { name: 'y' })])).toMatchObject({ kind: 'admitted' });
});

it('a server with threads answers /health while a thread is busy', async () => {
  await start();
  const writer = await server.open(undefined, { databaseId: HERE });
  const rowCount = atLevel({ test: 8_000, verify: 60_000 });
  const answersDuringPush = async (): Promise<number> => {
    const rows = Array.from({ length: rowCount }, (_, i) => insert('entries', randomUUID(), { amount: BigInt(i) }));
    const { sequence } = writer.site.write(rows);
    writer.push(sequence);
    let answers = 0;
    const decided = writer.decided(sequence).then(() => 'decided');
    while ((await Promise.race([decided, fetch(`http://${server.host}/health`)])) !== 'decided') answers++;
    return answers;
  };
  // Repeats, because a busy machine may run the thread and not this one during a push.
  await expect.poll(answersDuringPush).toBeGreaterThan(10);
});

it('a server with threads decides the pushes that it has received before it stops', async () => {
  await start();
  const writer = await server.open(undefined, { databaseId: HERE });
  writer.site.write([insert('accounts', 'x', { name: 'x' })]);
  writer.push();
  await writer.roundTrip();
  await server.sync.close();
  expect(server.query('SELECT id FROM accounts', HERE)).toEqual([['x']]);
});

it('a server with threads serves snapshots of both threads', async () => {
  await start({ snapshots: { minFileBytes: 1 } });
  for (const databaseId of [HERE, ELSEWHERE]) {
    const writer = await server.open(undefined, { databaseId });
    await writer.commit([insert('accounts', 'x', { name: 'x' })]);
    const response = await fetch(`http://${server.host}/databases/${databaseId}/snapshot?schema=${TEST_SCHEMA.hash}`, {
      headers: { authorization: `Bearer ${await server.token('viewer', 'ann', databaseId)}` },
    });
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  }
});

it('a server with threads enforces the limits of tenants', async () => {
  const folder = temporaryFolder();
  server = await TestServer.start(folder, { threads: THREADS });
  await (await server.open(undefined, { databaseId: HERE })).commit([insert('accounts', 'x', { name: 'x' })]);
  await server.stop();
  workers.length = 0;
  server = await TestServer.start(folder, { threads: THREADS, quotas: { maxTenantBytes: 1 } });
  await server.sync.ready();
  const writer = await server.open(undefined, { databaseId: HERE });
  writer.site.write([insert('accounts', 'y', { name: 'y' })]);
  writer.push();
  expect(await writer.failure()).toMatchObject({ code: 'quota-exceeded', fields: { quota: 'tenant-bytes' } });
  await threadOf(HERE).terminate();
  await server.logged('thread-ended');
  while (workers.filter(({ threadId }) => threadId > 0).length < THREADS)
    await new Promise((resolve) => process.once('worker', resolve));
  const again = await server.open(writer.site, { databaseId: HERE });
  again.push();
  expect(await again.failure()).toMatchObject({ code: 'quota-exceeded', fields: { quota: 'tenant-bytes' } });
});

it('a server with threads refuses the pushes to a database of an unknown tenant, and limits the other tenants', async () => {
  const folder = temporaryFolder();
  server = await TestServer.start(folder, { threads: THREADS });
  for (const databaseId of [HERE, ELSEWHERE])
    await (await server.open(undefined, { databaseId })).commit([insert('accounts', 'x', { name: 'x' })]);
  await server.stop();
  const tenantOf = (databaseId: string): string => {
    if (databaseId === ELSEWHERE) throw new Error('a private detail');
    return databaseId;
  };
  server = await TestServer.start(folder, { threads: THREADS, quotas: { maxTenantBytes: 1 }, tenantOf });
  await server.sync.ready();
  await server.logged('tenant-error');
  expect(server.events).toContainEqual({
    event: 'tenant-error',
    fields: expect.objectContaining({ database: ELSEWHERE, databases: 1 }) as unknown,
  });
  for (const [databaseId, code] of [
    [HERE, 'quota-exceeded'],
    [ELSEWHERE, 'database-unavailable'],
  ] as const) {
    const writer = await server.open(undefined, { databaseId });
    writer.site.write([insert('accounts', 'y', { name: 'y' })]);
    writer.push();
    expect(await writer.failure()).toMatchObject({ code });
  }
});

describe('a server with more than one thread', () => {
  it('rejects options that need databases on the accepting thread', async () => {
    await start();
    expect(() => server.sync.database(HERE)).toThrow('threads: 1');
    expect(() =>
      createSyncServer({
        dataDir: temporaryFolder(),
        schema: TEST_SCHEMA,
        secret: 'x'.repeat(32),
        threads: 2,
        validate: () => null,
      }),
    ).toThrow('validate needs threads: 1');
  });
});

// In `npm test`, several-instances.test.ts has two instances without threads.
describe.runIf(atLevel({ test: false, verify: true }))('threads of two instances on one PostgreSQL server', () => {
  const postgres = postgresUnderTest();

  it('commit, deliver to each other, and replace a thread that ends', async () => {
    const { url } = await postgres.server.createPreparedDatabase();
    await start({ postgres: url });
    const second = await TestServer.start(temporaryFolder(), { threads: THREADS, postgres: url });
    await second.sync.ready();
    try {
      const ann = await server.open(undefined, { databaseId: HERE });
      const ben = await second.open(undefined, { databaseId: HERE, principal: 'ben' });
      await ann.commit([insert('accounts', 'x', { name: 'x' })]);
      expect(deliveredRows(await ben.delivery(), 'accounts').map(({ key }) => key)).toEqual([['x']]);
      const count = workers.length;
      await threadOf(HERE).terminate();
      expect(await ann.failure()).toMatchObject({ code: 'database-unavailable' });
      await ben.commit([insert('accounts', 'y', { name: 'y' })]);
      while (workers.length === count) await new Promise((resolve) => process.once('worker', resolve));
      const again = await server.open(undefined, { databaseId: HERE });
      expect(await again.commit([insert('accounts', 'z', { name: 'z' })])).toMatchObject({ kind: 'admitted' });
      expect(deliveredRows(await ben.delivery(), 'accounts').map(({ key }) => key)).toEqual([['z']]);
    } finally {
      await second.stop();
    }
  });
});
