import { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import type { Reads } from '../rpc/reads.ts';
import { decodeRows, type EncodedRows } from '../rpc/rows-transfer.ts';
import { createStreams, type Streams } from './streams.ts';
import { MEMORY_OPTIONS, memoryHost } from '../../testing/worker/memory-host.ts';
import { openInMemory } from '../../testing/worker/test-database.ts';

const ROWS = 20_000;
const NUMBERS = {
  sql: 'WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number LIMIT ?) SELECT n FROM number',
  params: [ROWS],
};

const notRead = (): Promise<never> => Promise.reject(new Error('a stream has a connection of its own'));
const NO_READS: Reads = {
  query: notRead,
  queryAll: notRead,
  dependencies: notRead,
  listRejected: notRead,
  listWaiting: notRead,
  rowSyncState: notRead,
  writeStates: notRead,
  backup: notRead,
};

/** Opens streams on a database of their own. Each read of the clock takes this long. */
function streamsWithClock(lookMs: number): {
  readonly streams: Streams;
  readonly looks: () => number;
  /** The number of open databases. */
  readonly open: () => number;
} {
  let looks = 0;
  let open = 0;
  const openReader = async () => {
    const database = openInMemory();
    open++;
    return { database, reads: NO_READS, close: async () => void (open--, database.close()) };
  };
  const streams = createStreams({ openReader, reads: NO_READS, nowMs: () => lookMs * looks++ });
  return { streams, looks: () => looks, open: () => open };
}

it('a stream returns at most a few thousand rows at a time, and all of them in order', async () => {
  const { streams } = streamsWithClock(0);
  await streams.open(1, NUMBERS);
  const sizes: number[] = [];
  let last = 0;
  for (let rows = await streams.next(1); rows !== null; rows = await streams.next(1)) {
    sizes.push(rows.rowCount);
    for (const { n } of decodeRows(rows)) expect(n).toBe(++last);
  }
  expect(last).toBe(ROWS);
  expect(Math.max(...sizes)).toBeLessThan(ROWS / 2);
  await streams.close(1);
});

it('a stream returns fewer rows if they take longer than half a frame', async () => {
  const { streams } = streamsWithClock(5);
  await streams.open(1, NUMBERS);
  expect((await streams.next(1))?.rowCount).toBeLessThan(1_000);
  await streams.close(1);
});

it('a stream reads nothing until rows are requested', async () => {
  const { streams, looks } = streamsWithClock(5);
  await streams.open(1, NUMBERS);
  await streams.next(1);
  const before = looks();
  await new Promise((resolve) => setTimeout(resolve));
  expect(looks()).toBe(before);
  await streams.close(1);
});

it('a stream that was closed because the page was suspended reports the reason', async () => {
  const { streams } = streamsWithClock(0);
  await streams.open(1, NUMBERS);
  await streams.closeAll();
  await expect(streams.next(1)).rejects.toMatchObject({ code: 'storage-lost' });
});

it('a stream that was opening when the page was suspended is closed and reports the reason', async () => {
  let release = (): void => undefined;
  const ready = new Promise<void>((resolve) => (release = resolve));
  let open = 0;
  const openReader = async () => {
    await ready;
    const database = openInMemory();
    open++;
    return { database, reads: NO_READS, close: async () => void (open--, database.close()) };
  };
  const streams = createStreams({ openReader, reads: NO_READS, nowMs: () => 0 });
  const opening = streams.open(1, NUMBERS);
  const closing = streams.closeAll();
  release();
  await Promise.all([opening, closing]);
  expect(open).toBe(0);
  await expect(streams.next(1)).rejects.toMatchObject({ code: 'storage-lost' });
});

it('a page that is visible again before its opening streams are closed continues', async () => {
  const host = memoryHost();
  await host.open(MEMORY_OPTIONS, { onEvent: () => undefined, token: async () => '' });
  await Promise.all([host.openStream(1, NUMBERS), host.suspend(), host.resume()]);
  const reading = host.query({ sql: 'SELECT 1 AS one', params: [] }).then(decodeRows, String);
  await host.close();
  expect(await reading).toEqual([{ one: 1 }]);
});

it('closing a stream that is read in one piece does not wait for its query', async () => {
  const result = Promise.withResolvers<EncodedRows>();
  const streams = createStreams({ openReader: null, reads: { query: () => result.promise }, nowMs: () => 0 });
  const opening = streams.open(1, NUMBERS);
  await streams.closeAll();
  result.resolve({ names: [], columns: [], rowCount: 0 });
  await opening;
  await expect(streams.next(1)).rejects.toMatchObject({ code: 'storage-lost' });
});

it('a stream that cannot be opened reports why, keeps nothing open, and can be closed', async () => {
  const { streams, open } = streamsWithClock(0);
  await expect(streams.open(1, { sql: 'SELECT nothing FROM nowhere', params: [] })).rejects.toBeInstanceOf(
    RockpoolError,
  );
  expect(open()).toBe(0);
  await streams.close(1);
});
