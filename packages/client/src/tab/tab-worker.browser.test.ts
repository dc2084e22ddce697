import { encodeSchema, RockpoolError } from '@rockpool/shared';
import { proxy } from 'comlink';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import { newId } from '../new-id.ts';
import { decodeRows } from '../rpc/rows-transfer.ts';
import type { OpenOptions } from '../rpc/worker-api.ts';
import { defineSchema } from '../schema/define-schema.ts';
import { freshName } from '../../testing/browser-tabs.ts';
import { startWorker } from './start-worker.ts';
import { connectWorker } from './worker-connection.ts';
import { createTabWorker, type TabWorker, type TabWorkerOptions } from './tab-worker.ts';

const closed = new RockpoolError('client-closed');
const workers: TabWorker[] = [];

afterEach(() => {
  for (const worker of workers.splice(0)) worker.end(closed);
});

interface World {
  readonly worker: TabWorker;
  readonly stuck: RockpoolError[];
  readonly problems: RockpoolError[];
  opened: number;
}

function create(start: () => Worker, reopen: TabWorkerOptions['reopen'] = () => Promise.resolve(), pingMs = 20): World {
  const world = { stuck: [] as RockpoolError[], problems: [] as RockpoolError[], opened: 0 };
  const worker = createTabWorker({
    connect: () => connectWorker({ worker: start(), url: '' }, (error) => world.problems.push(error)),
    reopen: async (remote) => {
      world.opened++;
      await reopen(remote);
    },
    onProblem: (error) => world.problems.push(error),
    onStuck: (error) => world.stuck.push(error),
    pingMs,
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
const query = (worker: TabWorker): Promise<unknown> =>
  worker.call((remote) => remote.query({ sql: 'SELECT 1', params: [] }));

describe('a worker that does not answer', () => {
  it('is replaced by one that opens first and then gets the pending calls', async () => {
    const world = watched(create(inTurn(silent, answering)));
    expect(await query(world.worker)).toBe('answer');
    expect(world.opened).toBe(1);
    expect(world.stuck.map(({ code, fields }) => [code, fields])).toEqual([['worker-stuck', { waitedMs: 240 }]]);
  });

  it('fails the calls that it blocks twice, and later calls succeed', async () => {
    const world = watched(create(inTurn(silent, silent, answering)));
    await expect(query(world.worker)).rejects.toMatchObject({ code: 'worker-stuck', recovery: 'retry' });
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
    await expect(query(world.worker)).rejects.toMatchObject({ code: 'storage-busy' });
    await expect.poll(() => query(world.worker).catch(() => null)).toBe('answer');
    expect(world.problems.map(({ code }) => code)).toEqual(['storage-busy']);
  });
});

it('does not replace a worker that answers, however long a call takes', async () => {
  // Answers pings, and answers a query only after the time in which an unresponsive worker is replaced.
  const slow = script(`addEventListener('message', ({ data }) => {
    if (data.type === 'APPLY') setTimeout(() => postMessage({ id: data.id, type: 'RAW', value: 'answer' }), data.path[0] === 'ping' ? 0 : 600);
  });`);
  const world = watched(create(slow));
  expect(await query(world.worker)).toBe('answer');
  expect(world.stuck).toEqual([]);
});

it('a real worker with a statement that has no end is replaced; a write of that moment is done once, and what never ends is given up', async () => {
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
  const world = create(() => startWorker().worker, open, 250);
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
  const [given] = await Promise.allSettled([endless, written]);
  expect(given).toMatchObject({ status: 'rejected', reason: { code: 'worker-stuck' } });
  await world.worker.call((remote) => remote.write(insert, undefined, requestId));
  const rows = await world.worker.call((remote) => remote.query({ sql: 'SELECT id FROM note', params: [] }));
  expect(decodeRows(rows)).toEqual([{ id: 'a' }]);
  expect(world.opened).toBe(2);
});
