import {
  buildSchema,
  changesetHash,
  decodeClientMessage,
  encodeMessage,
  encodeOutline,
  FIRST_PREVIOUS_HASH,
  RockpoolError,
  type ChangeGroup,
  type ClientMessage,
  type Push,
  type ServerMessage,
} from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { account, openInMemory, testSchema } from '../../../testing/worker/test-database.ts';
import { admitted, testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { createSyncEngine, type SyncDatabase, type SyncEngine, type SyncEngineOptions } from './sync-engine.ts';
import type { SyncReport } from './sync-status.ts';
import type { ServerConnectionEvents } from './server-connection.ts';
import type { SnapshotSource } from './snapshot-taking.ts';

let requests = 0;

function write(database: OpenDatabase, sql: string): void {
  database.write({ id: `e${++requests}`, statements: [{ sql, params: [] }] });
}

/** The server's end of a connection. */
interface Line {
  readonly sent: ClientMessage[];
  readonly events: ServerConnectionEvents;
  /** What the network has not taken. */
  bufferedBytes: number;
  closed: boolean;
  say(message: ServerMessage): void;
}

/** Fakes the engine's timers and the clock that decides when they are due. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

const running: { readonly engine: SyncEngine; readonly database: OpenDatabase }[] = [];
afterEach(() => {
  for (const { engine, database } of running.splice(0)) {
    engine.stop();
    database.close();
  }
  vi.useRealTimers();
});

interface Connected {
  readonly lines: Line[];
  readonly next: (count: number) => Promise<Line>;
  readonly engine: SyncEngine;
  readonly reports: SyncReport[];
  /** How often the engine requested a new worker. */
  readonly restarts: () => number;
}

async function connected(
  database: OpenDatabase,
  sync: SyncDatabase = testSync(database),
  token: () => Promise<string> = async () => 'token',
  parts: Pick<SyncEngineOptions, 'inTurn' | 'snapshots'> = {},
): Promise<Connected> {
  const lines: Line[] = [];
  const reports: SyncReport[] = [];
  let restarts = 0;
  const engine = createSyncEngine({
    url: '',
    databaseId: 'budget',
    token,
    database: sync,
    connect(_url, events) {
      const line: Line = {
        sent: [],
        events,
        bufferedBytes: 0,
        closed: false,
        say: (message) => events.onMessage(message),
      };
      lines.push(line);
      queueMicrotask(() => events.onOpen());
      return {
        send: (message) => void line.sent.push(decodeClientMessage(encodeMessage(message))),
        get bufferedBytes() {
          return line.bufferedBytes;
        },
        close: () => void (line.closed = true),
      };
    },
    onReport: (report) => void reports.push(report),
    onProblem: () => undefined,
    onStuck: () => void restarts++,
    nowMs: () => 1_700_000_000_000,
    random: () => 0,
    ...parts,
  });
  running.push({ engine, database });
  engine.start();
  const next = async (count: number): Promise<Line> => {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    const line = lines[count - 1];
    if (line === undefined) throw new Error(`there is no connection ${count}`);
    return line;
  };
  return { lines, next, engine, reports, restarts: () => restarts };
}

const auditCount = (line: Line): number => line.sent.filter(({ type }) => type === 'audit').length;

/** Lets time pass on a connection whose server answers every ping. */
function pass(line: Line, seconds: number): void {
  for (let second = 0; second < seconds; second++) {
    vi.advanceTimersByTime(1_000);
    line.say({ type: 'pong', serverNowMs: 1_700_000_000_000 });
  }
}

const pushes = (line: Line): Push[] => line.sent.filter((message): message is Push => message.type === 'push');

/** The hashes that a server computes for a push. */
function hashes({ previousHash, changesets }: Push): Uint8Array[] {
  let hash: Uint8Array = previousHash;
  return changesets.map((changeset) => (hash = changesetHash(hash, changeset)));
}

it('the engine sends edits that a delivery re-created, even if the delivery has no outcomes', async () => {
  const database = openInMemory();
  const sync = testSync(database);
  const applyDeliveries: SyncDatabase['applyDeliveries'] = (deliveries) => {
    sync.applyDeliveries(deliveries);
    write(database, "INSERT INTO account (id) VALUES ('a')");
    return true;
  };
  const { next } = await connected(database, { ...sync, applyDeliveries });
  const line = await next(1);
  line.say(testWelcome());
  line.say(testDelivery({ to: 1 }));
  expect(pushes(line)).toMatchObject([{ changesets: [{ sequence: 1 }] }]);
});

it('the engine receives the outcomes that a restored file lacks before it continues as a new site', async () => {
  const database = openInMemory();
  for (const id of ['a', 'b']) write(database, `INSERT INTO account (id) VALUES ('${id}')`);
  database.meta.set('is_restored', 1);
  const { next } = await connected(database);
  const first = await next(1);
  first.say(testWelcome({ lastAckedSequence: 1, decidedHash: database.changelog.hashOf(1) }));
  const rejection = { sequence: 1, kind: 'rejected', code: 'constraint-check', fields: {} } as const;
  first.say(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: [rejection] }));
  const second = await next(2);
  expect(second.sent).toMatchObject([{ type: 'hello', siteId: database.siteId }]);
  expect(first.sent).not.toMatchObject([{ siteId: database.siteId }]);
  second.say(testWelcome());
  expect([pushes(first), pushes(second)]).toMatchObject([[], [{ changesets: [{ origin: { sequence: 2 } }] }]]);
  expect(database.rejected.list()).toMatchObject([{ changeset: { groups: [{ keys: [['a']] }] } }]);
});

it('an engine that is started after the medium has undone a delivery waits for room before it connects again', async () => {
  const { lines, next, engine, reports } = await connected(openInMemory());
  engine.onRefused(new RockpoolError('storage-full', { operation: 'commit' }));
  expect(reports.at(-1)).toMatchObject({ state: 'blocked', reason: { code: 'storage-full' } });
  const before = lines.length;
  await vi.advanceTimersByTimeAsync(29_000);
  expect(lines).toHaveLength(before);
  await vi.advanceTimersByTimeAsync(1_001);
  expect((await next(before + 1)).sent).toMatchObject([{ type: 'hello' }]);
});

it('the engine reports each message once, with all its effects', async () => {
  const database = openInMemory();
  const { next, engine, reports } = await connected(database);
  const line = await next(1);
  write(database, "INSERT INTO account (id) VALUES ('a')");
  engine.committed();
  const statesOf = (body: () => void): unknown[] => {
    const before = reports.length;
    body();
    return reports.slice(before).map(({ state, pendingCount, sentUpTo }) => [state, pendingCount, sentUpTo]);
  };
  expect(statesOf(() => line.say(testWelcome()))).toEqual([['connecting', 1, 1]]);
  expect(statesOf(() => line.say(testDelivery({ to: 1 })))).toEqual([['pushing', 1, 1]]);
  vi.advanceTimersByTime(1);
  expect(statesOf(() => line.say(testDelivery({ from: 1, to: 2 })))).toEqual([['pushing', 1, 1]]);
  write(database, "INSERT INTO account (id) VALUES ('b')");
  expect(statesOf(() => engine.committed())).toEqual([['pushing', 2, 2]]);
});

describe('the engine of a client that receives deliveries faster than it applies them', () => {
  const insert = (id: string): ChangeGroup => testGroup('insert', account, [{ id }]);

  async function caughtUp(): Promise<Connected & { readonly line: Line; readonly batches: number[] }> {
    const database = openInMemory();
    const sync = testSync(database);
    const batches: number[] = [];
    const applyDeliveries: SyncDatabase['applyDeliveries'] = (deliveries) => {
      batches.push(deliveries.length);
      return sync.applyDeliveries(deliveries);
    };
    const connection = await connected(database, { ...sync, applyDeliveries });
    const line = await connection.next(1);
    line.say(testWelcome());
    line.say(testDelivery({ to: 1, groups: [insert('a')] }));
    vi.advanceTimersByTime(10);
    batches.length = 0;
    return { ...connection, line, batches };
  }

  it('applies and reports waiting deliveries together', async () => {
    const { line, batches, reports } = await caughtUp();
    line.say(testDelivery({ from: 1, to: 2, groups: [insert('b')] }));
    expect(batches).toEqual([1]);
    const before = reports.length;
    for (const [from, id] of ['c', 'd', 'e'].entries())
      line.say(testDelivery({ from: from + 2, to: from + 3, groups: [insert(id)] }));
    expect(batches).toEqual([1]);
    vi.advanceTimersByTime(1);
    expect(batches).toEqual([1, 3]);
    expect(reports.length).toBe(before + 1);
    vi.advanceTimersByTime(1);
    line.say(testDelivery({ from: 5, to: 6 }));
    expect(batches).toEqual([1, 3, 1]);
  });

  it('applies waiting deliveries before any other message', async () => {
    const { line, batches, reports } = await caughtUp();
    for (const from of [1, 2, 3]) line.say(testDelivery({ from, to: from + 1, groups: [insert(String(from))] }));
    line.say({ type: 'delivery-part', groups: [insert('part')] });
    expect(batches).toEqual([1, 2]);
    line.say(testDelivery({ from: 4, to: 5, groups: [insert('last')] }));
    vi.advanceTimersByTime(1);
    expect(batches).toEqual([1, 2, 1]);
    expect(reports.at(-1)).toMatchObject({ state: 'up-to-date', reason: null });
  });

  it('drops waiting deliveries with the connection, and continues from what it applied', async () => {
    const { line, batches, next, engine } = await caughtUp();
    for (const from of [1, 2, 3]) line.say(testDelivery({ from, to: from + 1, groups: [insert(String(from))] }));
    line.events.onFailed(new RockpoolError('network-unreachable').toData());
    vi.advanceTimersByTime(1);
    expect(batches).toEqual([1]);
    engine.tryNow();
    const second = await next(2);
    expect(second.sent).toMatchObject([{ type: 'hello', cursor: 2 }]);
    second.say(testWelcome());
    second.say(testDelivery({ from: 2, to: 4, groups: [insert('2'), insert('3')] }));
    expect(batches).toEqual([1, 1]);
  });

  it('drops waiting deliveries when it is stopped, and reports nothing more', async () => {
    const { line, batches, engine, reports } = await caughtUp();
    for (const from of [1, 2, 3]) line.say(testDelivery({ from, to: from + 1, groups: [insert(String(from))] }));
    engine.stop();
    const before = reports.length;
    vi.advanceTimersByTime(1);
    expect(batches).toEqual([1]);
    expect(reports.length).toBe(before);
  });
});

/** Returns how often a delivery was flushed before it was confirmed, and the cursor at the last flush. */
async function flushesBeforeConfirm(outcomes: number): Promise<{ readonly flushes: number; readonly upTo: number }> {
  const database = openInMemory();
  const sync = testSync(database);
  let flushes = 0;
  let upTo = 0;
  const { next } = await connected(database, {
    ...sync,
    flush: () => {
      flushes++;
      upTo = sync.position().cursor;
      sync.flush();
    },
  });
  const line = await next(1);
  for (let i = 0; i < outcomes; i++) write(database, `INSERT INTO account (id) VALUES ('a${i}')`);
  line.say(testWelcome());
  line.say(testDelivery({ to: 1 + outcomes, lastAckedSequence: outcomes, outcomes: admitted(1, outcomes) }));
  flushes = 0;
  let atConfirm: { readonly flushes: number; readonly upTo: number } | null = null;
  const sent = line.sent.push.bind(line.sent);
  line.sent.push = (...messages) => {
    if (messages.some(({ type }) => type === 'confirm')) atConfirm = { flushes, upTo };
    return sent(...messages);
  };
  vi.advanceTimersByTime(60_000);
  expect(line.sent.find(({ type }) => type === 'confirm')).toMatchObject({ cursor: 1 + outcomes });
  return atConfirm ?? { flushes: -1, upTo: -1 };
}

it('the engine flushes a delivery before it confirms it, because the server forgets confirmed outcomes', async () => {
  expect(await flushesBeforeConfirm(2)).toEqual({ flushes: 1, upTo: 3 });
});

it('the engine does not flush before it confirms a delivery of rows only, which the server would send again', async () => {
  expect(await flushesBeforeConfirm(0)).toMatchObject({ flushes: 0 });
});

it('the engine confirms deliveries on each connection, even if the last one ended before a confirmation was sent', async () => {
  const { next, engine } = await connected(openInMemory());
  const first = await next(1);
  first.say(testWelcome());
  first.say(testDelivery({ to: 1 }));
  first.events.onFailed(new RockpoolError('network-unreachable').toData());
  engine.tryNow();
  const second = await next(2);
  second.say(testWelcome());
  second.say(testDelivery({ from: 1, to: 2 }));
  vi.advanceTimersByTime(2_000);
  const confirmed = [first, second].map(({ sent }) => sent.filter(({ type }) => type === 'confirm'));
  expect(confirmed).toMatchObject([[], [{ cursor: 2 }]]);
});

it('the engine drops the parts of a delivery whose connection ended', async () => {
  const database = openInMemory();
  const { next, engine } = await connected(database);
  const first = await next(1);
  first.say(testWelcome());
  first.say({ type: 'delivery-part', groups: [testGroup('insert', account, [{ id: 'part' }])] });
  first.events.onFailed(new RockpoolError('network-unreachable').toData());
  engine.tryNow();
  const second = await next(2);
  second.say(testWelcome());
  second.say(testDelivery({ to: 1, groups: [testGroup('insert', account, [{ id: 'whole' }])] }));
  expect(database.connection.rows('SELECT id FROM account')).toEqual([['whole']]);
});

it('the engine pushes changesets that exceed the window as outcomes arrive', async () => {
  const database = openInMemory();
  const count = 8;
  for (let i = 0; i < count; i++) write(database, `INSERT INTO account (id, extra) VALUES ('${i}', zeroblob(250000))`);
  const { next } = await connected(database);
  const line = await next(1);
  const sentUpTo = (): number => pushes(line).at(-1)?.changesets.at(-1)?.sequence ?? 0;
  line.say(testWelcome());
  line.say(testDelivery({ to: 1 }));
  const inFirstWindow = sentUpTo();
  expect(inFirstWindow).toBeGreaterThan(1);
  expect(inFirstWindow).toBeLessThan(count);
  for (let decided = 0; sentUpTo() < count; decided++) {
    const before = sentUpTo();
    line.say(
      testDelivery({
        from: decided + 1,
        to: decided + 2,
        lastAckedSequence: decided + 1,
        outcomes: admitted(decided + 1, decided + 1),
      }),
    );
    vi.advanceTimersByTime(1);
    expect(sentUpTo()).toBe(before + 1);
  }
});

it('the engine continues to push after outcomes that several deliveries brought together', async () => {
  const database = openInMemory();
  const count = 8;
  for (let i = 0; i < count; i++) write(database, `INSERT INTO account (id, extra) VALUES ('${i}', zeroblob(250000))`);
  const { next } = await connected(database);
  const line = await next(1);
  const sentUpTo = (): number => pushes(line).at(-1)?.changesets.at(-1)?.sequence ?? 0;
  line.say(testWelcome());
  line.say(testDelivery({ to: 1 }));
  const sent = sentUpTo();
  for (let sequence = 1; sequence <= sent; sequence++)
    line.say(
      testDelivery({
        from: sequence,
        to: sequence + 1,
        lastAckedSequence: sequence,
        outcomes: admitted(sequence, sequence),
      }),
    );
  vi.advanceTimersByTime(1);
  expect([database.outbox.lastAckedSequence(), sentUpTo()]).toEqual([sent, count]);
});

it('the engine starts no audit soon after a local write', async () => {
  const { next, engine } = await connected(openInMemory());
  const line = await next(1);
  line.say(testWelcome());
  line.say(testDelivery({ to: 1 }));
  pass(line, 19);
  engine.committed();
  pass(line, 19);
  expect(auditCount(line)).toBe(0);
  pass(line, 2);
  expect(auditCount(line)).toBe(1);
});

it('the engine sends an audit that its last connection left unanswered again on the next one', async () => {
  const { lines, next, engine } = await connected(openInMemory());
  const first = await next(1);
  first.say(testWelcome());
  first.say(testDelivery({ to: 1 }));
  pass(first, 21);
  expect(auditCount(first)).toBe(1);
  first.events.onFailed(new RockpoolError('network-unreachable').toData());
  engine.tryNow();
  const second = await next(2);
  second.say(testWelcome());
  second.say(testDelivery({ from: 1, to: 2 }));
  pass(second, 21);
  expect(auditCount(second)).toBe(1);
  pass(second, 45);
  expect(lines).toHaveLength(2);
});

it('the engine ends a download of a snapshot when it is stopped, and reports nothing more', async () => {
  const signals: AbortSignal[] = [];
  const ended = Promise.withResolvers<never>();
  const snapshots: SnapshotSource = {
    async take({ onProgress }, signal) {
      signals.push(signal);
      onProgress({ receivedBytes: 1, totalBytes: 2 });
      return ended.promise;
    },
    discard: async () => undefined,
  };
  const { lines, next, engine, reports } = await connected(openInMemory(), undefined, undefined, { snapshots });
  const line = await next(1);
  line.say(testWelcome({ takeSnapshot: true }));
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  engine.stop();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(reports.at(-1)).toMatchObject({ state: 'offline', snapshot: null });
  const before = reports.length;
  ended.reject(new RockpoolError('network-unreachable'));
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  expect([lines.length, reports.length]).toEqual([1, before]);
});

it('the engine ignores a message of an ended connection that waited for the end of a transaction', async () => {
  const jobs: (() => void)[] = [];
  let isOpen = true;
  const inTurn = (job: () => void): void => (isOpen ? void jobs.push(job) : job());
  const { next, engine, reports } = await connected(openInMemory(), undefined, undefined, { inTurn });
  const first = await next(1);
  first.say(testWelcome());
  first.events.onFailed(new RockpoolError('network-unreachable').toData());
  engine.tryNow();
  const second = await next(2);
  isOpen = false;
  for (const job of jobs) job();
  second.say(testWelcome());
  second.say(testDelivery({ to: 1 }));
  expect(second.closed).toBe(false);
  expect(reports.at(-1)).toMatchObject({ state: 'up-to-date', reason: null });
});

it('the engine opens no connection if it is stopped while the app fetches a token', async () => {
  const token = Promise.withResolvers<string>();
  const { lines, engine } = await connected(openInMemory(), undefined, () => token.promise);
  engine.stop();
  token.resolve('token');
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  expect(lines).toEqual([]);
});

it('the engine reports which column differs from the server’s schema and on which side, and no other part of the schema', async () => {
  const database = openInMemory();
  const { next, reports } = await connected(database);
  const line = await next(1);
  const older = buildSchema(
    testSchema.tables.map((table) =>
      table.name === 'account'
        ? { ...table, columns: table.columns.filter(({ name }) => name !== 'rate'), indexes: [] }
        : table,
    ),
  );
  line.say({ type: 'failure', code: 'schema-mismatch', fields: { outline: encodeOutline(older) } });
  // The server closes the connection at once.
  line.events.onFailed(new RockpoolError('network-unreachable', { stage: 'socket' }).toData());
  await vi.dynamicImportSettled();
  const { nextAttemptMs: _, ...fields } = reports.at(-1)?.reason?.fields ?? {};
  expect(reports.at(-1)?.state).toBe('blocked');
  expect(fields).toEqual({
    table: 'account',
    column: 'rate',
    side: 'server',
    problem: 'the column is missing',
    differences: 1,
  });
});

it('the engine reports a failure even if the database can no longer be read', async () => {
  const database = openInMemory();
  const sync = testSync(database);
  write(database, "INSERT INTO account (id) VALUES ('a')");
  let isClosed = false;
  const readable = <T>(read: () => T): T => {
    if (isClosed) throw new RockpoolError('storage-lost', { operation: 'read' });
    return read();
  };
  const { next, reports } = await connected(database, {
    ...sync,
    counts: () => readable(() => sync.counts()),
    applyDeliveries: (deliveries) => readable(() => sync.applyDeliveries(deliveries)),
  });
  const line = await next(1);
  line.say(testWelcome());
  isClosed = true;
  line.say(testDelivery({ to: 1 }));
  expect(reports.at(-1)).toMatchObject({ reason: { code: 'storage-lost' }, pendingCount: 1 });
});

it('the engine reports that the database cannot be read after a commit that succeeded', async () => {
  const database = openInMemory();
  const sync = testSync(database);
  let isClosed = false;
  const { next, engine, reports } = await connected(database, {
    ...sync,
    get isPaused() {
      if (isClosed) throw new RockpoolError('storage-lost', { operation: 'read' });
      return sync.isPaused;
    },
  });
  (await next(1)).say(testWelcome());
  isClosed = true;
  engine.committed();
  expect(reports.at(-1)).toMatchObject({ state: 'offline', reason: { code: 'storage-lost' } });
});

it('the engine reports at once that the database cannot be read for a hello', async () => {
  const database = openInMemory();
  const position = (): never => {
    throw new RockpoolError('storage-lost', { operation: 'read' });
  };
  const { next, reports } = await connected(database, { ...testSync(database), position });
  expect((await next(1)).sent).toEqual([]);
  expect(reports.at(-1)).toMatchObject({ state: 'offline', reason: { code: 'storage-lost' } });
});

describe('the engine of a client with a slow network', () => {
  const MINUTE_MS = 60_000;

  it('keeps the connection while the network takes a large changeset, and gives it up when the network stops', async () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id) VALUES ('a')");
    const { next, reports } = await connected(database);
    const line = await next(1);
    line.say(testWelcome());
    line.say(testDelivery({ to: 0 }));
    line.bufferedBytes = 10_000;
    for (let second = 0; second < 5 * 60; second++) {
      line.bufferedBytes -= 20;
      vi.advanceTimersByTime(1_000);
    }
    expect(line.closed).toBe(false);
    expect(reports.at(-1)).toMatchObject({ state: 'pushing', waitingFor: { stage: 'outcome' } });
    vi.advanceTimersByTime(MINUTE_MS);
    expect(line.closed).toBe(true);
  });

  it('keeps the connection while the parts of a long message arrive', async () => {
    const { next, reports } = await connected(openInMemory());
    const line = await next(1);
    line.say(testWelcome());
    for (let part = 0; part < 10; part++) {
      vi.advanceTimersByTime(25_000);
      line.events.onPart?.();
    }
    expect(line.closed).toBe(false);
    line.say(testDelivery({ to: 1 }));
    expect(reports.at(-1)).toMatchObject({ state: 'up-to-date' });
  });
});

it('the engine reports a transport that throws, and tries again later', async () => {
  const reports: SyncReport[] = [];
  const database = openInMemory();
  const engine = createSyncEngine({
    url: '',
    databaseId: 'budget',
    token: async () => 'token',
    database: testSync(database),
    connect: () => {
      throw new TypeError('a fault of the transport');
    },
    onReport: (report) => void reports.push(report),
    onProblem: () => undefined,
    onStuck: () => undefined,
  });
  running.push({ engine, database });
  engine.start();
  await vi.advanceTimersByTimeAsync(1);
  expect(reports.at(-1)).toMatchObject({
    state: 'blocked',
    reason: { code: 'internal', fields: { thrown: 'TypeError' } },
  });
});

describe('the engine of a client whose token expires', () => {
  const NOW_S = 1_700_000_000;
  const jwt = (sub: string, exp: number): string => {
    const payload = btoa(JSON.stringify({ sub, exp })).replaceAll('+', '-').replaceAll('/', '_');
    return `header.${payload.replaceAll('=', '')}.signature`;
  };

  /** Connects with the first token. The app returns the others in order, and the last one again and again. */
  async function connectedWith(tokens: readonly string[]): Promise<{ line: Line; asked: () => number }> {
    let asked = 0;
    const token = async (): Promise<string> => tokens[Math.min(asked++, tokens.length - 1)] as string;
    const database = openInMemory();
    const { next } = await connected(database, testSync(database), token);
    const line = await next(1);
    // The clock of the device is a day behind.
    line.say(testWelcome({ serverNowMs: (NOW_S + 86_400) * 1000 }));
    line.say(testDelivery({ to: 0 }));
    return { line, asked: () => asked };
  }
  const expiry = NOW_S + 86_400 + 60;
  const renewals = ({ sent }: Line): string[] =>
    sent.flatMap((message) => (message.type === 'renew-token' ? [message.token] : []));
  /** Advances the time on a working connection. */
  async function pass(line: Line, ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 250) {
      await vi.advanceTimersByTimeAsync(250);
      if (passedMs % 10_000 === 0) line.say({ type: 'pong', serverNowMs: NOW_S * 1000 });
    }
  }

  it('renews its token before it expires, by the clock of the server, and again before the next expiry', async () => {
    const [second, third] = [jwt('ann?>~ÿ', expiry + 20), jwt('ann?>~ÿ', expiry + 7_200)];
    const { line } = await connectedWith([jwt('ann?>~ÿ', expiry), second, third]);
    await pass(line, 29_000);
    expect(renewals(line)).toEqual([]);
    await pass(line, 1_000);
    expect(renewals(line)).toEqual([second]);
    await pass(line, 26_000);
    expect(renewals(line)).toEqual([second, third]);
    expect(line.closed).toBe(false);
  });

  it('asks a few times while the app returns the same token', async () => {
    const { line, asked } = await connectedWith([jwt('ann', expiry)]);
    await pass(line, 60_000);
    expect(asked()).toBe(5);
    expect(renewals(line)).toEqual([]);
  });

  it('does not send the token of a different user, who gets a session of their own', async () => {
    const { line, asked } = await connectedWith([jwt('ann', expiry), jwt('ben', expiry + 60)]);
    await pass(line, 60_000);
    expect(asked()).toBe(2);
    expect(renewals(line)).toEqual([]);
  });

  it('sends no token on a later connection that the app returns after the end of the earlier one', async () => {
    const late = Promise.withResolvers<string>();
    const tokens = [Promise.resolve(jwt('ann', expiry)), late.promise];
    let asked = 0;
    const { next, engine } = await connected(
      openInMemory(),
      undefined,
      () => tokens[asked++] ?? Promise.resolve(jwt('ann', expiry)),
    );
    const first = await next(1);
    first.say(testWelcome({ serverNowMs: (NOW_S + 86_400) * 1000 }));
    first.say(testDelivery({ to: 0 }));
    await pass(first, 31_000);
    expect(asked).toBe(2);
    first.events.onFailed(new RockpoolError('network-unreachable').toData());
    engine.tryNow();
    const second = await next(2);
    late.resolve(jwt('ann', expiry + 7_200));
    await next(2);
    expect(second.sent.map(({ type }) => type)).toEqual(['hello']);
  });

  it.each([
    ['opaque', 'opaque'],
    ['opaque with dots', 'a.b.c'],
    ['without an expiry', `a.${btoa('{"sub":"ann"}')}.c`],
    ['null', `a.${btoa('null')}.c`],
  ])('does not ask for another token if the token is %s', async (_, token) => {
    const { line, asked } = await connectedWith([token, jwt('ann', expiry)]);
    await pass(line, 60_000);
    expect(asked()).toBe(1);
  });
});

describe('the engine of a copied file', () => {
  it('compares its changesets, becomes a new site with the changesets that only it has, and continues at once', async () => {
    const database = openInMemory();
    for (const id of ['a', 'b', 'c']) write(database, `INSERT INTO account (id) VALUES ('${id}')`);
    const { next, lines } = await connected(database);
    const first = await next(1);
    first.say(testWelcome({ lastAckedSequence: 3, decidedHash: new Uint8Array(16).fill(9) }));
    first.say(testDelivery({ to: 3, lastAckedSequence: 3, outcomes: admitted(1, 3) }));
    expect(database.outbox.lastAckedSequence()).toBe(0);
    expect(pushes(first).map(({ changesets }) => changesets.map(({ sequence }) => sequence))).toEqual([[1, 2, 3]]);
    const { siteId } = database;
    first.say({ type: 'failure', code: 'site-copied', fields: { sequence: 3 } });
    const second = await next(2);
    expect(first.closed).toBe(true);
    expect(lines).toHaveLength(2);
    const [hello] = second.sent;
    expect(hello).toMatchObject({ type: 'hello', lastAckedSequence: 0, lastSequence: 1, siteId: database.siteId });
    expect(database.siteId).not.toEqual(siteId);
    expect(database.connection.rows('SELECT id FROM account')).toEqual([['c']]);
    second.say(testWelcome());
    expect(pushes(second)).toMatchObject([{ previousHash: FIRST_PREVIOUS_HASH, changesets: [{ sequence: 1 }] }]);
  });

  it('pushes nothing besides the changesets to compare', async () => {
    const database = openInMemory();
    for (const id of ['a', 'b', 'c']) write(database, `INSERT INTO account (id) VALUES ('${id}')`);
    const sync = testSync(database);
    sync.greet(testWelcome());
    sync.applyDelivery(testDelivery({ to: 2, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
    const { next } = await connected(database, sync);
    const line = await next(1);
    line.say(testWelcome({ lastAckedSequence: 2, decidedHash: new Uint8Array(16).fill(9), fullResync: false }));
    expect(pushes(line).map(({ changesets }) => changesets.map(({ sequence }) => sequence))).toEqual([[1, 2, 3]]);
  });

  it('adds a changeset without effect to the comparison if the server may have all of its own', async () => {
    const database = openInMemory();
    for (const id of ['a', 'b']) write(database, `INSERT INTO account (id) VALUES ('${id}')`);
    const { next } = await connected(database);
    const line = await next(1);
    line.say(testWelcome({ lastAckedSequence: 5, decidedHash: new Uint8Array(16).fill(9) }));
    const [push] = pushes(line);
    expect(push?.changesets.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    // The added changeset belongs to the same chain and has no effect.
    expect(hashes(push as Push)[1]).toEqual(database.changelog.hashOf(2));
    expect(database.changelog.head().sequence).toBe(2);
    line.say({ type: 'failure', code: 'site-copied', fields: { sequence: 3 } });
    expect((await next(2)).sent).toMatchObject([{ type: 'hello', lastSequence: 0 }]);
    expect(database.connection.rows('SELECT id FROM account')).toEqual([]);
  });

  it('becomes a new site without a comparison if it has no changesets of its own', async () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id) VALUES ('a')");
    const { next } = await connected(database);
    const first = await next(1);
    first.say(testWelcome({ lastAckedSequence: 1, decidedHash: database.changelog.hashOf(1) }));
    first.say(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    first.events.onFailed({ code: 'auth-token-expired', fields: {}, recovery: 'reauthenticate', message: '' });
    await vi.advanceTimersByTimeAsync(5);
    const second = await next(2);
    second.say(testWelcome({ lastAckedSequence: 2, decidedHash: new Uint8Array(16).fill(9) }));
    const third = await next(3);
    expect(third.sent).toMatchObject([{ type: 'hello', lastAckedSequence: 0, lastSequence: 0, cursor: 1 }]);
    expect(pushes(second)).toEqual([]);
    expect(database.connection.rows('SELECT id FROM account')).toEqual([['a']]);
  });
});

describe('the engine of a client whose connection is replaced by another connection of its site', () => {
  const replacement: ServerMessage = { type: 'failure', code: 'session-replaced', fields: {} };

  it('reconnects the first time, and becomes a new site the second time, because a copy of its file must be connected', async () => {
    const database = openInMemory();
    const { siteId } = database;
    const { next, engine } = await connected(database);
    const first = await next(1);
    first.say(testWelcome());
    first.say(testDelivery({ to: 0 }));
    first.say(replacement);
    expect(database.siteId).toEqual(siteId);
    engine.tryNow();
    const second = await next(2);
    second.say(testWelcome());
    second.say(testDelivery({ to: 0 }));
    second.say(replacement);
    expect(database.siteId).not.toEqual(siteId);
    const third = await next(3);
    expect(third.sent).toMatchObject([{ type: 'hello', siteId: database.siteId }]);
    const ownSiteId = database.siteId;
    third.say(testWelcome());
    third.say(replacement);
    expect(database.siteId).toEqual(ownSiteId);
  });

  it('keeps its site while a changeset waits for its outcome, because the copy may have it too', async () => {
    const database = openInMemory();
    const { siteId } = database;
    const { next, engine } = await connected(database);
    write(database, "INSERT INTO account (id) VALUES ('a')");
    for (const count of [1, 2, 3]) {
      const line = await next(count);
      line.say(testWelcome());
      line.say(replacement);
      engine.tryNow();
    }
    expect(database.siteId).toEqual(siteId);
  });

  it('becomes a new site once it has no pending changesets', async () => {
    const database = openInMemory();
    const { siteId } = database;
    write(database, "INSERT INTO account (id) VALUES ('a')");
    const { next } = await connected(database);
    const first = await next(1);
    first.say(testWelcome());
    first.say({ type: 'failure', code: 'session-replaced', fields: {} });
    expect(database.siteId).toEqual(siteId);
    await vi.advanceTimersByTimeAsync(300);
    const second = await next(2);
    second.say(testWelcome());
    second.say(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    second.say({ type: 'failure', code: 'session-replaced', fields: {} });
    expect((await next(3)).sent).toMatchObject([
      { type: 'hello', cursor: 1, lastSequence: 0, siteId: database.siteId },
    ]);
    expect(database.siteId).not.toEqual(siteId);
    expect(database.connection.rows('SELECT id FROM account')).toEqual([['a']]);
  });
});

describe('the engine of a client that cannot store deliveries', () => {
  it('finally requests a full resync, and continues with its pending changes', async () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id) VALUES ('mine')");
    const { next, engine } = await connected(database);
    const unknownTable = {
      tableId: 4711,
      kind: 'delete',
      rowCount: 1,
      keys: [['x']],
      columnIds: [],
      values: [],
    } as const;
    for (const count of [1, 2, 3]) {
      const line = await next(count);
      expect(line.sent[0]).toMatchObject({ type: 'hello', fullResync: false });
      line.say(testWelcome());
      line.say(testDelivery({ to: 3, groups: [unknownTable] }));
      expect(line.closed).toBe(true);
      engine.tryNow();
    }
    const line = await next(4);
    expect(line.sent[0]).toMatchObject({ type: 'hello', fullResync: true });
    line.say(testWelcome({ fullResync: true }));
    line.say(testDelivery({ whole: true, to: 3 }));
    expect(database.meta.cursor).toBe(3);
    expect(database.connection.rows('SELECT id FROM account')).toEqual([['mine']]);
    expect(pushes(line)).toMatchObject([{ changesets: [{ sequence: 1 }] }]);
  });

  it('names the stuck stage, and requests a new worker if the full resync cannot be stored either', async () => {
    const database = openInMemory();
    const applyDeliveries = (): never => {
      throw new RockpoolError('storage-full');
    };
    const { next, engine, reports, restarts } = await connected(database, { ...testSync(database), applyDeliveries });
    for (const count of [1, 2, 3, 4, 5, 6]) {
      expect(restarts()).toBe(0);
      const line = await next(count);
      line.say(testWelcome({ fullResync: count > 3 }));
      line.say(testDelivery({ whole: count > 3, to: 3 }));
      engine.tryNow();
    }
    expect(restarts()).toBe(1);
    expect(reports.at(-1)?.stuck).toMatchObject({
      stage: 'apply',
      times: 6,
      error: { code: 'storage-full' },
      next: 'restart',
    });
  });
});

describe('the engine of a client that is paused', () => {
  it('closes the connection, opens none even after a restart, and continues when it is resumed', async () => {
    const database = openInMemory();
    const { next, engine, lines } = await connected(database);
    const first = await next(1);
    first.say(testWelcome());
    database.write({ id: 'pause', statements: [], action: { kind: 'pause-sync' } });
    engine.committed();
    expect(first.closed).toBe(true);
    write(database, "INSERT INTO account (id) VALUES ('a')");
    engine.committed();
    engine.tryNow();
    engine.stop();
    engine.start();
    await vi.advanceTimersByTimeAsync(24 * 3_600_000);
    expect(lines).toHaveLength(1);
    database.write({ id: 'resume', statements: [], action: { kind: 'resume-sync' } });
    engine.committed();
    const second = await next(2);
    second.say(testWelcome());
    expect(pushes(second)).toMatchObject([{ changesets: [{ sequence: 1 }] }]);
  });
});

describe('the engine of a client whose server requires a full resync', () => {
  it('pushes what the server has lost, after the full resync', async () => {
    const database = openInMemory();
    const { next, engine } = await connected(database);
    const line = await next(1);
    write(database, "INSERT INTO account (id) VALUES ('a')");
    line.say(testWelcome({ fullResync: true }));
    engine.committed();
    expect(pushes(line)).toEqual([]);
    line.say(testDelivery({ whole: true, to: 4 }));
    expect(pushes(line)).toMatchObject([{ olderEpochUpTo: 0, changesets: [{ sequence: 1 }] }]);
    expect(database.meta.cursor).toBe(4);
  });
});

describe('the engine of a client whose user withdraws a change', () => {
  interface Withdrawing extends Connected {
    readonly database: OpenDatabase;
    readonly withdraw: (place: number) => void;
  }

  /** Three changesets, of which the server has decided none. */
  async function withThree(): Promise<Withdrawing> {
    const database = openInMemory();
    for (const id of ['a', 'b', 'c']) write(database, `INSERT INTO account (id) VALUES ('${id}')`);
    const sync = testSync(database);
    const connection = await connected(database, sync);
    return {
      ...connection,
      database,
      withdraw(place) {
        sync.withdrawals.withdraw(database.listWaiting(10)[place]?.id as string);
        connection.engine.committed();
      },
    };
  }

  const helloOf = ({ sent }: Line): Uint8Array | undefined =>
    sent.flatMap((message) => (message.type === 'hello' ? [message.siteId] : []))[0];
  const originsIn = (line: Line): unknown[] =>
    pushes(line).flatMap(({ changesets }) => changesets.map(({ origin }) => origin?.sequence));

  it('asks with a new connection whether the server has it, and sends the others under a new site id', async () => {
    const { next, withdraw, database } = await withThree();
    const { siteId } = database;
    const first = await next(1);
    first.say(testWelcome());
    first.say(testDelivery({ to: 1 }));
    expect(pushes(first)).toHaveLength(1);
    withdraw(1);
    expect(first.closed).toBe(true);
    const second = await next(2);
    expect(helloOf(second)).toEqual(siteId);
    second.say(testWelcome());
    const third = await next(3);
    expect([second.closed, pushes(second)]).toEqual([true, []]);
    expect(helloOf(third)).toEqual(database.siteId);
    expect(database.siteId).not.toEqual(siteId);
    third.say(testWelcome());
    third.say(testDelivery({ to: 1 }));
    expect(originsIn(third)).toEqual([1, 3]);
    expect(database.listRejected()).toMatchObject([{ decided: true, reason: { code: 'changeset-withdrawn' } }]);
  });

  it('continues under the same site id if the server has it, once its outcome has arrived', async () => {
    const { next, withdraw, database, engine } = await withThree();
    const { siteId } = database;
    const first = await next(1);
    first.say(testWelcome());
    first.say(testDelivery({ to: 1 }));
    withdraw(1);
    const second = await next(2);
    second.say(testWelcome({ lastAckedSequence: 2, decidedHash: database.changelog.hashOf(2) }));
    write(database, "INSERT INTO account (id) VALUES ('d')");
    engine.committed();
    expect(pushes(second)).toEqual([]);
    second.say(testDelivery({ to: 3, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
    expect(pushes(second)).toMatchObject([{ changesets: [{ sequence: 3 }, { sequence: 4 }] }]);
    expect(database.siteId).toEqual(siteId);
    expect(database.connection.rows('SELECT id FROM account ORDER BY id').flat()).toEqual(['a', 'b', 'c', 'd']);
    expect(database.listRejected()).toEqual([]);
  });

  it('repeats at once a push that the server had refused', async () => {
    const { next, withdraw, reports } = await withThree();
    const first = await next(1);
    first.say(testWelcome());
    first.say(testDelivery({ to: 1 }));
    first.say({ type: 'failure', code: 'quota-exceeded', fields: {} });
    const second = await next(2);
    second.say(testWelcome());
    second.say(testDelivery({ from: 1, to: 2 }));
    expect(reports.at(-1)).toMatchObject({ state: 'blocked', pendingCount: 3 });
    withdraw(0);
    (await next(3)).say(testWelcome());
    const fourth = await next(4);
    fourth.say(testWelcome());
    fourth.say(testDelivery({ from: 1, to: 2 }));
    expect([pushes(second), originsIn(fourth)]).toEqual([[], [2, 3]]);
    expect(reports.at(-1)).toMatchObject({ state: 'pushing', pendingCount: 2, rejectedCount: 1 });
  });

  it('sends nothing for further writes before the welcome, and reconnects only once', async () => {
    const { next, withdraw, database, engine, lines } = await withThree();
    withdraw(1);
    const first = await next(1);
    expect(lines).toHaveLength(1);
    first.say(testWelcome());
    const second = await next(2);
    expect(pushes(first)).toEqual([]);
    second.say(testWelcome());
    second.say(testDelivery({ to: 1 }));
    write(database, "INSERT INTO account (id) VALUES ('d')");
    engine.committed();
    expect(originsIn(second)).toEqual([1, 3, undefined]);
    expect(lines).toHaveLength(2);
  });
});
