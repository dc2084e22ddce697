import { connect } from 'node:net';
import { columnIdOf, encodeChangesetBody, MAX_CHANGESET_ROWS, tableIdOf } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { serverProcessUnderTest } from '../../testing/server-process-under-test.ts';
import { TestConnection, TestSite } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';

const SLOW_CLIENTS = 50;
const STALLED_READERS = 50;
const NOTE_BYTES = 500_000;
const DATABASES = 1_000;
const MAX_RESIDENT_BYTES = 1024 ** 3;

const tested = serverProcessUnderTest();

/** Checks that the server still works after the attack. */
async function expectMemoryBounded(): Promise<void> {
  expect((await tested.server.metrics()).get('rockpool_resident_memory_bytes')).toBeLessThan(MAX_RESIDENT_BYTES);
}

async function arrive(site = new TestSite(), databaseId: string = DATABASE): Promise<TestConnection> {
  const connection = await TestConnection.connect(tested.server.url, site);
  await connection.open(await tested.server.token('editor', 'ann', databaseId), databaseId);
  return connection;
}

/** Sends a request one byte per second until the server closes the connection. */
function slowly(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, host, () => socket.write('GET /sync HTTP/1.1\r\nX-Slow: '));
    const drip = setInterval(() => socket.write('a'), 1_000);
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      resolve(answer);
    });
  });
}

/** Commits row after row meanwhile, like an honest client. Returns the duration of the slowest commit. */
async function commitUntil(isOver: () => boolean): Promise<number> {
  const honest = await arrive();
  let slowestMs = 0;
  while (!isOver()) {
    const startMs = performance.now();
    const id = crypto.randomUUID();
    expect(await honest.commit([insert('accounts', id, { name: id })])).toMatchObject({ kind: 'admitted' });
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return slowestMs;
}

it('a client that sends a request byte by byte is disconnected, and delays no other client', async () => {
  const { hostname, port } = new URL(tested.server.url);
  let isOver = false;
  const slow = Promise.all(Array.from({ length: SLOW_CLIENTS }, () => slowly(hostname, Number(port)))).finally(
    () => (isOver = true),
  );
  await commitUntil(() => isOver);
  for (const answer of await slow) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  await expectMemoryBounded();
});

it('stalled readers are disconnected one by one, and each catches up without a gap', async () => {
  const readers = await Promise.all(Array.from({ length: STALLED_READERS }, () => arrive()));
  for (const reader of readers) reader.socketForAbuse.pause();
  const writer = await arrive();
  let count = 0;
  const cut = async (): Promise<number> =>
    (await tested.server.metrics()).get('rockpool_sessions_failed_total{code="slow-consumer"}') ?? 0;
  while ((await cut()) < STALLED_READERS)
    await writer.commit([insert('entries', `e${++count}`, { amount: 1n, note: 'x'.repeat(NOTE_BYTES) })]);
  for (const reader of readers) {
    reader.cut();
    const again = await TestConnection.connect(tested.server.url, reader.site);
    const { first } = await again.open(await tested.server.token(), DATABASE);
    expect(first).toMatchObject({ from: 0, to: count });
    expect(first.groups.reduce((rows, { rowCount }) => rows + rowCount, 0)).toBe(count);
    await again.close();
  }
  await expectMemoryBounded();
});

it('a client that opens a thousand databases leaves few of them open', async () => {
  for (let index = 0; index < DATABASES; index++) await (await arrive(new TestSite(), `room-${index}`)).close();
  // 64 databases may stay open while idle, and the last ones may not be closed yet.
  expect((await tested.server.metrics()).get('rockpool_databases_open')).toBeLessThan(80);
  await expectMemoryBounded();
});

it('a changeset with the maximum number of rows is decided, and no session is disconnected meanwhile', async () => {
  const hostile = await arrive();
  const ids = Array.from({ length: MAX_CHANGESET_ROWS }, (_, index) => `n${index}`);
  const body = encodeChangesetBody({
    atomic: false,
    cellBases: [],
    groups: [
      {
        tableId: tableIdOf('notes'),
        kind: 'insert',
        rowCount: MAX_CHANGESET_ROWS,
        keys: [ids],
        columnIds: ['title', 'reads'].map(columnIdOf),
        values: [ids.map(() => null), ids.map(() => 0n)],
      },
    ],
  });
  const { sequence } = hostile.site.writeBody(body);
  let isOver = false;
  const honest = commitUntil(() => isOver);
  hostile.push(sequence);
  const { outcomes } = await hostile.decided(sequence).finally(() => (isOver = true));
  expect(outcomes).toMatchObject([{ kind: 'admitted' }]);
  console.info(
    `hostile: beside a changeset of ${MAX_CHANGESET_ROWS} rows the slowest honest commit took ${((await honest) / 1000).toFixed(1)} s`,
  );
  await expectMemoryBounded();
});
