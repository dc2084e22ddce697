import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { downloadSnapshot } from '#client/worker/first-sync/download-snapshot.ts';
import { RockpoolError } from '#shared/index.ts';
import { insert } from '#sync-server/testing/changeset.ts';
import { serverUnderTest } from '#sync-server/testing/server-under-test.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { SnapshotDevice, type SnapshotDeviceOptions } from './snapshot-device.ts';
import { fetchBuilt } from './test-snapshots.ts';

const tested = serverUnderTest({ snapshots: { minFileBytes: 1 } });
const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server that answers the snapshot route itself. Sockets bypass it. */
async function inFront(answer: Answer): Promise<{ readonly fetch: typeof fetch; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.range ?? 'all');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, fetch: (input, init) => fetch((input as string).replace(/^http:..[^/]+/, `http://${host}`), init) };
}

async function fillServer(): Promise<void> {
  const writer = await tested.server.open();
  await writer.commit(Array.from({ length: 500 }, (_, i) => insert('entries', `e${i}`, { amount: BigInt(i) })));
}

async function device(options: Partial<SnapshotDeviceOptions>): Promise<SnapshotDevice> {
  const opened = await SnapshotDevice.open({ server: () => tested.server, ...options });
  cleanUps.push(() => opened.close());
  return opened;
}

const HEADERS = {
  'content-type': 'application/vnd.rockpool.snapshot+gzip',
  'content-length': '5000',
  etag: '"e"',
  'rockpool-sha256': '0'.repeat(64),
  'rockpool-size': '9000',
};
const BYTES = new Uint8Array(1_000);

/** On a busy machine, even the first response takes a while. */
const BUILT_MS = 3_000;

/** Long where a response arrives, because a due timer may run before a response that has already arrived. */
const PATIENT_MS = 60_000;
const status =
  (code: number): Answer =>
  (_, response) =>
    void response.writeHead(code).end();

it('a download that is aborted while the server builds the file requests no further token', async () => {
  const { fetch, asked } = await inFront(status(202));
  const aborter = new AbortController();
  let tokens = 0;
  const download = downloadSnapshot({
    url: 'ws://snapshots.test/sync',
    databaseId: 'd',
    schemaHash: 'h',
    token: async () => (tokens++ > 0 ? new Promise<string>(() => undefined) : 'token'),
    fetch,
    signal: aborter.signal,
    onWait: ({ stage }) => void (stage === 'snapshot-build' && aborter.abort()),
    onProgress: () => undefined,
  });
  await expect(download).rejects.toMatchObject({ code: 'network-unreachable' });
  expect([tokens, asked.length]).toEqual([1, 1]);
});

describe('a first sync over a faulty snapshot route', () => {
  it.each<
    [string, Answer, { readonly stage: string; readonly waitedMs?: number; readonly [field: string]: unknown }, string]
  >([
    [
      'takes the connection and never answers',
      () => undefined,
      { stage: 'snapshot-answer', waitedMs: 100 },
      'snapshot-answer',
    ],
    [
      'sends headers and then nothing',
      (_, response) => response.writeHead(200, HEADERS).flushHeaders(),
      { stage: 'snapshot-download', waitedMs: 1_000 },
      'snapshot-download',
    ],
    ['answers 404', status(404), { stage: 'snapshot-answer', status: 404 }, 'snapshot-answer'],
    ['answers 500', status(500), { stage: 'snapshot-answer', status: 500 }, 'snapshot-answer'],
    ['answers 503', status(503), { stage: 'snapshot-answer', status: 503 }, 'snapshot-answer'],
    ['never finishes building', status(202), { stage: 'snapshot-build', waitedMs: BUILT_MS }, 'snapshot-build'],
    [
      'cuts the connection',
      (request) => void request.socket.destroy(),
      { stage: 'snapshot-answer', receivedBytes: 0 },
      'snapshot-answer',
    ],
    [
      'answers with a foreign page',
      (_, response) => void response.end('<html>'),
      { stage: 'snapshot-answer', problem: 'the response is not a snapshot', status: 200 },
      'snapshot-answer',
    ],
    [
      'sends another file',
      (_, response) => void response.writeHead(200, { ...HEADERS, 'content-length': '1000' }).end(BYTES),
      { stage: 'snapshot-download', problem: 'the downloaded file does not match the hash that the server sent' },
      'snapshot-download',
    ],
    [
      'starts over and is cut each time',
      (request, response) => response.writeHead(200, HEADERS).write(BYTES, () => request.socket.destroy()),
      { stage: 'snapshot-download', receivedBytes: 1_000 },
      'snapshot-download',
    ],
    [
      'stalls in the middle, and again when the download resumes',
      (request, response) =>
        void (request.headers.range === undefined && response.writeHead(200, HEADERS).write(BYTES)),
      { stage: 'snapshot-download', receivedBytes: 1_000 },
      'snapshot-download',
    ],
  ])(
    'reports the wait, falls back to deliveries, reports the reason, and does not request the file again if the route %s',
    async (_, answer, fields, stage) => {
      await fillServer();
      const { fetch: get, asked } = await inFront(answer);
      let firstByteMs = stage === 'snapshot-answer' && fields.waitedMs !== undefined ? fields.waitedMs : PATIENT_MS;
      const mine = await device({
        fetch: async (...request) => {
          const response = await get(...request);
          // Now the wait for the rest begins, which some routes never send.
          if (stage === 'snapshot-download') firstByteMs = fields.waitedMs ?? 5_000;
          return response;
        },
        timeouts: {
          get firstByteMs() {
            return firstByteMs;
          },
          nextBytesMs: 200,
          builtMs: BUILT_MS,
        },
      });
      mine.start();
      await mine.upToDate();
      expect(mine.rows('SELECT count(*) FROM entries')).toEqual([[500]]);
      expect(mine.fullResyncs).toEqual([]);
      expect(mine.stages).toContain(stage);
      expect(mine.problems.map(({ code, fields: said }) => ({ code, fields: said }))).toEqual([
        { code: 'snapshot-unavailable', fields },
      ]);
      // Only a download that was cut after it had begun makes a new connection, to see whether there is a network.
      expect(mine.states.includes('offline')).toBe(stage === 'snapshot-download' && 'receivedBytes' in fields);

      const askedBefore = asked.length;
      mine.stop();
      mine.database.meta.set('wants_whole', 1);
      mine.start();
      await mine.upToDate();
      expect(asked).toHaveLength(askedBefore);
      expect(mine.problems).toHaveLength(1);
    },
  );

  it('waits while the server builds the file, and downloads it', async () => {
    await fillServer();
    let times = 0;
    const mine = await device({
      fetch: async (input, init) => (++times < 3 ? new Response(null, { status: 202 }) : fetchBuilt(input, init)),
    });
    mine.start();
    await mine.upToDate();
    expect(mine.stages).toEqual([
      'token',
      'socket',
      'welcome',
      'token',
      'snapshot-answer',
      'snapshot-build',
      'token',
      'snapshot-answer',
      'snapshot-build',
      'token',
      'snapshot-answer',
      'snapshot-download',
      'snapshot-store',
      'token',
      'socket',
      'welcome',
      'delivery',
    ]);
    expect([mine.states, mine.problems, mine.fullResyncs]).toEqual([['connecting', 'up-to-date'], [], [1]]);
  });

  it('reports a missing token, and downloads the file once there is a token', async () => {
    await fillServer();
    let asked = 0;
    const mine = await device({
      token: async () => (++asked === 2 ? Promise.reject(new RockpoolError('auth-signed-out')) : tested.server.token()),
    });
    mine.start();
    await mine.until(() => mine.report?.state === 'needs-auth');
    mine.tryNow();
    await mine.upToDate();
    expect([mine.problems, mine.fullResyncs]).toEqual([[], [1]]);
  });
});

it('an aborted download does not wait for its token', async () => {
  const stop = new AbortController();
  const failed = downloadSnapshot({
    url: 'ws://127.0.0.1',
    databaseId: 'app',
    schemaHash: '',
    token: () => new Promise(() => undefined),
    timeouts: { tokenMs: 3_600_000 },
    onProgress: () => undefined,
    onWait: () => undefined,
    signal: stop.signal,
  }).catch(({ code }: RockpoolError) => code);
  stop.abort();
  const nextTask = new Promise((resolve) => setTimeout(resolve)).then(() => 'waiting');
  expect(await Promise.race([failed, nextTask])).toBe('network-unreachable');
});
