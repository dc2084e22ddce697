import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { Reads } from '../../rpc/reads.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import { FAKE_STATUS, statement } from '../../../testing/fake-tabs.ts';
import type { AskMessage, ChannelMessage } from './channel-message.ts';
import type { WriteRequest } from '../../rpc/write-request.ts';
import { Leadership, type WritableDatabase } from './leadership.ts';
import type { OpenedDatabase } from './opened-database.ts';

const NOW_MS = 1000;

interface World {
  readonly serve: (message: Partial<AskMessage> & { readonly requestId: string }) => Promise<void>;
  readonly written: string[];
  readonly posted: string[];
  failNext: boolean;
  localCommits: number;
  /** The errors of undone commits, each after the number of the work that received it: `work <number>: <code>`. */
  readonly refused: string[];
  /** Makes the newest work publish a commit. */
  publishCommit: (tables: readonly string[]) => void;
  /** Makes the newest work publish this part of its status. */
  publishSentUpTo: (sentUpTo: number | null) => void;
  readonly startAnew: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** The number of timers that run. */
  timers: number;
}

const NO_READS: Reads = {
  query: () => Promise.reject(new Error('not read')),
  queryAll: () => Promise.reject(new Error('not read')),
  dependencies: async () => [],
  listRejected: async () => [],
  listWaiting: async () => [],
  rowSyncState: () => Promise.reject(new Error('not read')),
  writeStates: async () => [],
  backup: () => Promise.reject(new Error('not read')),
};

function createWorld({
  database: own,
  ...medium
}: Pick<OpenedDatabase<unknown>, 'committed' | 'flushed'> & { readonly database?: WritableDatabase } = {}): World {
  const requests = new Set<string>();
  const world: World = {
    serve: (message) =>
      leadership.serve({
        kind: 'ask',
        leaderTerm: 'mine',
        tabId: 'author',
        attempt: 1,
        afterRequestId: null,
        request: { kind: 'write', statements: [statement(message.requestId)] },
        latestStartMs: NOW_MS,
        ...message,
      }),
    written: [],
    posted: [],
    failNext: false,
    localCommits: 0,
    refused: [],
    publishCommit: () => undefined,
    publishSentUpTo: () => undefined,
    startAnew: () => leadership.startAnew(),
    stop: () => leadership.stop(),
    timers: 0,
  };
  let works = 0;
  const database: WritableDatabase = own ?? {
    write({ id }: WriteRequest) {
      if (requests.has(id)) return { results: [], touchedTables: ['t'], changes: [], repeated: true };
      if (world.failNext) {
        world.failNext = false;
        throw new RockpoolError('constraint-check');
      }
      requests.add(id);
      world.written.push(id);
      return { results: [], touchedTables: ['t'], changes: [], repeated: false };
    },
    begin: () => {
      throw new Error('no transaction of several calls in this test');
    },
  };
  const note = (message: ChannelMessage): void =>
    void world.posted.push('requestId' in message ? `${message.kind} ${message.requestId}` : message.kind);
  const leadership = new Leadership({
    leaderTerm: 'mine',
    tabId: 'leader',
    sharesFiles: true,
    opened: { database, reads: NO_READS, close: () => Promise.resolve(), ...medium },
    schema: 'schema',
    migrationCount: 0,
    tabOptions: { sync: null, durability: 'relaxed' },
    initialStatus: FAKE_STATUS,
    clock: {
      nowMs: () => NOW_MS,
      elapsedMs: () => NOW_MS,
      after: () => {
        world.timers++;
        return () => void world.timers--;
      },
    },
    hasFollowers: () => true,
    watchOwner: () => () => undefined,
    post: note,
    send: (_tabId, message) => note(message),
    startWork: (tools) => {
      const number = ++works;
      world.publishCommit = (tables) => tools.publishCommit({ tables, changes: [] });
      world.publishSentUpTo = (sentUpTo) => tools.publishStatus({ ...FAKE_STATUS, sentUpTo });
      return {
        onLocalCommit: () => world.localCommits++,
        tryNow: () => undefined,
        onRefused: ({ code }) => void world.refused.push(`work ${number}: ${code}`),
        stop: () => Promise.resolve(),
      };
    },
    onCommit: () => undefined,
    onStatus: () => undefined,
    onProblem: () => undefined,
  });
  return world;
}

describe('a leader that receives a write', () => {
  it('reports the commit to all tabs before it answers the author', async () => {
    const { serve, posted } = createWorld();
    await serve({ requestId: 'a' });
    expect(posted).toEqual(['begun a', 'commit', 'status', 'answer a']);
  });

  it('ignores a request to a different leader', async () => {
    const { serve, written, posted } = createWorld();
    await serve({ requestId: 'a', leaderTerm: 'before' });
    expect(written).toEqual([]);
    expect(posted).toEqual([]);
  });

  it('ignores a write that its author has given up', async () => {
    const { serve, written, posted } = createWorld();
    await serve({ requestId: 'a', latestStartMs: NOW_MS - 1 });
    expect(written).toEqual([]);
    expect(posted).toEqual([]);
  });

  it('does not run the write before earlier writes of the same tab', async () => {
    const { serve, written } = createWorld();
    await serve({ requestId: 'b', afterRequestId: 'a' });
    expect(written).toEqual([]);
    await serve({ requestId: 'a' });
    await serve({ requestId: 'b', afterRequestId: 'a' });
    expect(written).toEqual(['a', 'b']);
  });

  it('runs the write after an earlier write that failed', async () => {
    const world = createWorld();
    world.failNext = true;
    await world.serve({ requestId: 'a' });
    await world.serve({ requestId: 'b', afterRequestId: 'a' });
    expect(world.posted).toEqual(['begun a', 'refused a', 'begun b', 'commit', 'status', 'answer b']);
  });

  it('repeats its response to a repeated request, without a second commit notice', async () => {
    const world = createWorld();
    await world.serve({ requestId: 'a' });
    await world.serve({ requestId: 'a' });
    expect(world.written).toEqual(['a']);
    expect(world.posted).toEqual([
      ...['begun a', 'commit', 'status', 'answer a'],
      ...['begun a', 'status', 'answer a'],
    ]);
    expect(world.localCommits).toBe(1);
  });

  it('refuses a failed write again, even if it might succeed now', async () => {
    const world = createWorld();
    world.failNext = true;
    await world.serve({ requestId: 'a' });
    await world.serve({ requestId: 'a' });
    expect(world.written).toEqual([]);
    expect(world.posted).toEqual(['begun a', 'refused a', 'refused a']);
  });
});

it('a leader whose migration waits retries a rejected changeset only while the server accepts its schema', async () => {
  const written: string[] = [];
  const database: WritableDatabase = {
    readOnly: new RockpoolError('migration-refused', { table: 't', column: 'c' }),
    write: ({ id }, refusal) => {
      if (refusal !== undefined) throw refusal;
      written.push(id);
      return { results: [], touchedTables: [], changes: [], repeated: false };
    },
    begin: () => {
      throw new Error('no transaction of several calls in this test');
    },
  };
  const { serve, posted, publishSentUpTo } = createWorld({ database });
  const ask = (requestId: string, kind: 'retry-rejected' | 'drop-rejected'): Promise<void> =>
    serve({ requestId, request: { kind: 'write', statements: [], action: { kind, sequence: 1 } } });
  await ask('a', 'retry-rejected');
  await ask('b', 'drop-rejected');
  publishSentUpTo(1);
  await ask('c', 'retry-rejected');
  publishSentUpTo(null);
  await ask('d', 'retry-rejected');
  expect(written).toEqual(['b', 'c']);
  expect(posted.filter((message) => message.startsWith('refused'))).toEqual(['refused a', 'refused d']);
});

it('a leader does not run an answered step of a transaction again', async () => {
  const steps: string[] = [];
  const database = {
    write: () => ({ results: [], touchedTables: [], changes: [], repeated: false }),
    begin: () => ({
      isOver: false,
      query: () => {
        throw new Error('not asked');
      },
      execute: ({ sql }: { readonly sql: string }) => {
        steps.push(sql);
        return { changes: 1, rows: new Uint8Array() as unknown as EncodedRows };
      },
      savepoint: () => undefined,
      release: () => undefined,
      undo: () => undefined,
      commit: () => ({ results: [], touchedTables: [], changes: [], repeated: false }),
      rollback: () => undefined,
    }),
  };
  const { serve, posted } = createWorld({ database });
  await serve({
    requestId: 'begin',
    request: { kind: 'step', transactionId: 'tx', ask: { kind: 'begin', atomic: false, timeoutMs: 1000 } },
  });
  const step = {
    requestId: 'step',
    request: { kind: 'step', transactionId: 'tx', ask: { kind: 'execute', statement: statement('INSERT') } },
  } as const;
  await serve(step);
  await serve(step);
  expect(steps).toEqual(['INSERT']);
  expect(posted).toEqual(['answer begin', 'answer step']);
});

describe('a leader on a medium that stores commits in the background', () => {
  it('reports a commit only after it is stored', async () => {
    const stored = Promise.withResolvers<void>();
    const world = createWorld({ committed: () => stored.promise });
    const serving = world.serve({ requestId: 'a' });
    await Promise.resolve();
    expect(world.written).toEqual(['a']);
    expect(world.posted).toEqual(['begun a']);
    expect(world.localCommits).toBe(0);
    stored.resolve();
    await serving;
    expect(world.posted).toEqual(['begun a', 'commit', 'status', 'answer a']);
    expect(world.localCommits).toBe(1);
  });

  it("rejects the author's write if the medium refuses its commit, and reports the commit to no other tab", async () => {
    const world = createWorld({ committed: () => Promise.reject(new RockpoolError('storage-full')) });
    await world.serve({ requestId: 'a' });
    expect(world.posted).toEqual(['begun a', 'refused a']);
    expect(world.localCommits).toBe(0);
  });

  it('reports an undone commit of its background work to the work that replaces it, and to no tab', async () => {
    const stored = Promise.withResolvers<void>();
    const world = createWorld({ committed: () => stored.promise });
    world.publishCommit(['t']);
    await world.startAnew();
    stored.reject(new RockpoolError('storage-full'));
    await Promise.resolve();
    expect(world.refused).toEqual(['work 2: storage-full']);
    expect(world.posted).toEqual([]);
  });

  it('does not announce a commit of its background work that changed no table', () => {
    const world = createWorld();
    world.publishCommit([]);
    expect(world.posted).toEqual([]);
    world.publishCommit(['t']);
    expect(world.posted).toEqual(['commit']);
  });

  it('runs the next write of the same tab before the last one is stored', async () => {
    const stored = Promise.withResolvers<void>();
    const world = createWorld({ committed: () => stored.promise });
    const serving = [world.serve({ requestId: 'a' }), world.serve({ requestId: 'b', afterRequestId: 'a' })];
    expect(world.written).toEqual(['a', 'b']);
    stored.resolve();
    await Promise.all(serving);
  });

  it('runs and answers a repeated request once while its commit is being stored', async () => {
    const stored = Promise.withResolvers<void>();
    const world = createWorld({ committed: () => stored.promise });
    const serving = [world.serve({ requestId: 'a' }), world.serve({ requestId: 'a' })];
    stored.resolve();
    await Promise.all(serving);
    expect(world.posted).toEqual(['begun a', 'begun a', 'commit', 'status', 'answer a']);
  });
});

describe('a leader that flushes commits before it reports them', () => {
  it('reports a commit only after the flush', async () => {
    const flushed = Promise.withResolvers<void>();
    const world = createWorld({ flushed: () => flushed.promise });
    const serving = world.serve({ requestId: 'a' });
    await Promise.resolve();
    expect([world.written, world.posted, world.localCommits]).toEqual([['a'], ['begun a'], 0]);
    flushed.resolve();
    await serving;
    expect([world.posted, world.localCommits]).toEqual([['begun a', 'commit', 'status', 'answer a'], 1]);
  });

  it('reports a failed flush to the author at every request; the commit remains, and sync and the other tabs are notified', async () => {
    const world = createWorld({ flushed: () => Promise.reject(new RockpoolError('storage-unflushed')) });
    await world.serve({ requestId: 'a' });
    await world.serve({ requestId: 'a' });
    expect([world.written, world.posted, world.localCommits]).toEqual([
      ['a'],
      ['begun a', 'commit', 'refused a', 'refused a'],
      1,
    ]);
  });
});

it('a leader that steps down leaves no timer, even if its work still commits and reports meanwhile', async () => {
  for (const isBusy of [false, true]) {
    const world = createWorld();
    if (isBusy) await world.serve({ requestId: 'a' });
    expect(world.timers > 0).toBe(isBusy);
    const stopped = world.stop();
    world.publishCommit(['t']);
    world.publishSentUpTo(null);
    await stopped;
    expect(world.timers).toBe(0);
  }
});
