import { encodeSchema, RockpoolError } from '@rockpool/shared';
import { proxy } from 'comlink';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../new-id.ts';
import { decodeRows } from '../rpc/rows-transfer.ts';
import type { OpenOptions } from '../rpc/worker-api.ts';
import { defineSchema } from '../schema/define-schema.ts';
import { freshName } from '../../testing/browser-tabs.ts';
import { startWorker } from './start-worker.ts';
import { connectWorker } from './worker-connection.ts';
import { ReplaceableWorker, type TabWorker, type TabWorkerOptions } from './tab-worker.ts';

const closed = new RockpoolError('client-closed');
const workers: TabWorker[] = [];
const PING_MS = 20;

// The test triggers the page's interval itself, so that a worker does not look stuck on a busy machine.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});

afterEach(() => {
  for (const worker of workers.splice(0)) worker.end(closed);
  vi.useRealTimers();
});

const tick = (): void => void vi.advanceTimersByTime(PING_MS);

/** Lets the time pass after which a worker that has answered no ping counts as stuck. */
const letTimePass = (): void => void vi.advanceTimersByTime(13 * PING_MS);

interface World {
  readonly worker: TabWorker;
  readonly stuck: RockpoolError[];
  readonly problems: RockpoolError[];
  opened: number;
}

function create(start: () => Worker, reopen: TabWorkerOptions['reopen'] = () => Promise.resolve()): World {
  const world = { stuck: [] as RockpoolError[], problems: [] as RockpoolError[], opened: 0 };
  const worker = new ReplaceableWorker({
    connect: () => connectWorker({ worker: start(), url: '' }, (error) => world.problems.push(error)),
    reopen: async (remote) => {
      await reopen(remote);
      world.opened++;
    },
    onDown: (error) => world[error.code === 'worker-stuck' ? 'stuck' : 'problems'].push(error),
    pingMs: PING_MS,
  });
  workers.push(worker);
  return Object.assign(world, { worker });
}

const script = (text: string) => (): Worker =>
  new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), { type: 'module' });
/** Answers every call like Comlink. */
const answering = script(
  `addEventListener('message', ({ data }) => { if (data.type === 'APPLY') postMessage({ id: data.id, type: 'RAW', value: 'answer' }); });`,
);
const silent = script('');
const inTurn =
  (...starts: (() => Worker)[]) =>
  () =>
    (starts.length > 1 ? starts.shift() : starts[0])!();
const watched = (world: World): World => {
  world.worker.watch();
  return world;
};
/** Waits until this many replacements have opened. */
const isOpen = (world: World, count: number): Promise<void> => expect.poll(() => world.opened).toBe(count);
const query = (worker: TabWorker): Promise<unknown> =>
  worker.call((remote) => remote.query({ sql: 'SELECT 1', params: [] }));

describe('a worker that does not answer', () => {
  it('is replaced by a worker that opens the database first and then receives the pending calls', async () => {
    const world = watched(create(inTurn(silent, answering)));
    const answer = query(world.worker);
    letTimePass();
    expect(await answer).toBe('answer');
    expect(world.opened).toBe(1);
    expect(world.stuck.map(({ code, fields }) => [code, fields])).toEqual([['worker-stuck', { waitedMs: 240 }]]);
  });

  it('is replaced; calls that have blocked it twice fail, and later calls succeed', async () => {
    const world = watched(create(inTurn(silent, silent, answering)));
    const failing = query(world.worker).catch((thrown: unknown) => thrown);
    letTimePass();
    await isOpen(world, 1);
    letTimePass();
    expect(await failing).toMatchObject({ code: 'worker-stuck', recovery: 'retry' });
    expect(await query(world.worker)).toBe('answer');
  });

  it('is replaced again if its replacement cannot open', async () => {
    let isBusy = true;
    const world = watched(
      create(inTurn(silent, answering), async () => {
        const failure = isBusy ? new RockpoolError('storage-busy') : null;
        isBusy = false;
        if (failure !== null) throw failure;
      }),
    );
    const failing = query(world.worker).catch((thrown: unknown) => thrown);
    letTimePass();
    // The outcome is unknown, because the first worker may have committed.
    expect(await failing).toMatchObject({ code: 'storage-busy', fields: { timesAsked: 2 } });
    await expect.poll(() => world.problems).toHaveLength(1);
    tick();
    expect(await query(world.worker)).toBe('answer');
    expect(world.problems.map(({ code }) => code)).toEqual(['storage-busy']);
  });
});

it('a worker that answers pings is not replaced, however long a call takes', async () => {
  // Answers a query only after more pings than a stuck worker would leave unanswered.
  const slow = script(`let pings = 0; let query;
  addEventListener('message', ({ data }) => {
    if (data.type !== 'APPLY') return;
    if (data.path[0] !== 'ping') return void (query = data.id);
    postMessage({ id: data.id, type: 'RAW', value: undefined });
    postMessage('pinged');
    if (++pings === 30) postMessage({ id: query, type: 'RAW', value: 'answer' });
  });`);
  let pinged = Promise.withResolvers<void>();
  const world = watched(
    create(() => {
      const worker = slow();
      worker.addEventListener('message', ({ data }) => void (data === 'pinged' && pinged.resolve()));
      return worker;
    }),
  );
  const answer = query(world.worker);
  for (let ping = 0; ping < 30; ping++) {
    tick();
    await pinged.promise;
    pinged = Promise.withResolvers();
  }
  expect(await answer).toBe('answer');
  expect(world.stuck).toEqual([]);
});

it('a real worker with an endless statement is replaced; a write that was pending runs once, and the statement fails', async () => {
  const schema = encodeSchema(defineSchema({ note: sqliteTable('note', { id: text().primaryKey() }) }));
  const options: OpenOptions = {
    name: freshName(),
    schema,
    migrations: null,
    sync: null,
    durability: 'relaxed',
    persistence: 'durable',
  };
  const tab = { onEvent: () => undefined, token: async () => '' };
  const open: TabWorkerOptions['reopen'] = async (remote) => void (await remote.open(options, proxy(tab)));
  const world = create(() => startWorker().worker, open);
  await world.worker.call(open);
  world.worker.watch();
  const [requestId, insert] = [newId(), [{ sql: "INSERT INTO note VALUES ('a')", params: [] }]];
  const written = world.worker.call((remote) => remote.write(insert, undefined, requestId));
  const endless = world.worker.call((remote) =>
    remote.query({
      sql: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n',
      params: [],
    }),
  );
  const settled = Promise.allSettled([endless, written]);
  letTimePass();
  await isOpen(world, 1);
  letTimePass();
  const [given] = await settled;
  expect(given).toMatchObject({ status: 'rejected', reason: { code: 'worker-stuck' } });
  await world.worker.call((remote) => remote.write(insert, undefined, requestId));
  const rows = await world.worker.call((remote) => remote.query({ sql: 'SELECT id FROM note', params: [] }));
  expect(decodeRows(rows)).toEqual([{ id: 'a' }]);
  expect(world.opened).toBe(2);
});
