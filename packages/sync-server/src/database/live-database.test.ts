import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import {
  decodeServerMessage,
  FIRST_LOG_HASH,
  PROTOCOL_VERSION,
  RockpoolError,
  type Hello,
  type ServerMessage,
} from '@rockpool/shared';
import { InProcessBus } from '../bus/in-process-bus.ts';
import { RETENTION } from '../log/retention.ts';
import { PresenceRelay } from '../presence/presence-relay.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { durableInFile } from '../store/durability.ts';
import { insert, remove, withAges } from '../../testing/changeset.ts';
import { DirectSession, untilCommitted } from '../../testing/direct-session.ts';
import { lostHash } from '../../testing/lost-hash.ts';
import { Replica } from '../../testing/replica.ts';
import { TestSite } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { LiveDatabase } from './live-database.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const NOW_MS = 1_763_683_200_000;

let folder: string;
let live: LiveDatabase;

beforeEach(() => {
  folder = temporaryFolder();
  live = open();
});
afterEach(() => {
  void live.close();
});

function open(): LiveDatabase {
  return new LiveDatabase(openDatabaseFile(join(folder, 'a.sqlite'), TEST_SCHEMA), {
    onFailure: (error) => expect.unreachable(String(error)),
    offersSnapshot: () => true,
  });
}

function connect(
  site: TestSite,
  { principal = 'a', snapshot = 'refused' }: { principal?: string; snapshot?: Hello['snapshot'] } = {},
): { subscriber: Subscriber; heard: ServerMessage[]; joined: Promise<void> | void } {
  const heard: ServerMessage[] = [];
  const subscriber: Subscriber = {
    site: Buffer.from(site.siteId).toString('hex'),
    hasEnded: false,
    send: (bytes) => void heard.push(decodeServerMessage(bytes)),
    fail: () => live.leave(subscriber),
  };
  const { siteId, databaseIdentity, logEpoch, cursor, logHashes, lastAckedSequence, changelog, hashes } = site;
  const joined = live.join(
    subscriber,
    {
      type: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      token: '',
      databaseId: '',
      databaseIdentity,
      schemaHash: TEST_SCHEMA.hash,
      siteId,
      logEpoch,
      cursor,
      cursorHash: logHashes.get(cursor) ?? FIRST_LOG_HASH,
      lastAckedSequence,
      decidedHash: hashes[lastAckedSequence] as Uint8Array,
      lastSequence: changelog.length,
      fullResync: false,
      snapshot,
    },
    { principal: { id: principal }, canWrite: true, rows: 'everything', nowMs: NOW_MS },
  );
  return { subscriber, heard, joined };
}

it('a live database that is closed lets no session join, also none that waits for a commit', async () => {
  void live.close();
  expect(() => connect(new TestSite())).toThrow(expect.objectContaining({ code: 'database-unavailable' }) as Error);
  const committed = Promise.withResolvers<void>();
  let settling: Promise<void> | null = committed.promise;
  const file = openDatabaseFile(join(folder, 'b.sqlite'), TEST_SCHEMA);
  live = new LiveDatabase(
    { ...durableInFile(file), settling: () => settling },
    { onFailure: (error) => expect.unreachable(String(error)) },
  );
  const { heard, joined } = connect(new TestSite());
  void live.close();
  settling = null;
  committed.resolve();
  await expect(joined).rejects.toMatchObject({ code: 'database-unavailable' });
  expect(heard).toEqual([]);
  live = open();
});

it('a live database decides the pushes of a site before it welcomes the site again, so that a copy is detected by its hash', () => {
  const site = new TestSite();
  const { subscriber } = connect(site);
  const changeset = site.write([insert('accounts', 'x', { name: 'Cash' })]);
  live.push(
    subscriber,
    {
      type: 'push',
      previousHash: site.hashes[0] as Uint8Array,
      olderEpochUpTo: 0,
      changesets: withAges([changeset], site.nowMs()),
    },
    { principal: 'a', receivedMs: NOW_MS },
    () => undefined,
  );
  const { heard } = connect(Object.assign(new TestSite(), { siteId: site.siteId }));
  expect(heard[0]).toMatchObject({ type: 'welcome', watermark: 1, lastAckedSequence: 1, decidedHash: site.hashes[1] });
});

it('a live database is not idle while a session gets no deliveries: one that downloads a snapshot, or uses the site of another', () => {
  const site = new TestSite();
  const { subscriber: author } = connect(site);
  live.push(
    author,
    {
      type: 'push',
      previousHash: site.hashes[0] as Uint8Array,
      olderEpochUpTo: 0,
      changesets: withAges([site.write([insert('accounts', 'x', { name: 'Cash' })])], site.nowMs()),
    },
    { principal: 'a', receivedMs: NOW_MS },
    () => undefined,
  );
  live.settle();
  live.leave(author);
  expect(live.isIdle).toBe(true);
  const sessions = [
    () => connect(new TestSite(), { snapshot: 'accepted' }),
    () => connect(new TestSite(site.siteId), { principal: 'eve' }),
  ];
  for (const begin of sessions) {
    const { subscriber, heard } = begin();
    expect(heard.map(({ type }) => type)).toEqual(['welcome']);
    expect(live.isIdle).toBe(false);
    live.leave(subscriber);
    expect(live.isIdle).toBe(true);
  }
});

it('a live database keeps the entry of a newer session when the older session of the site ends', () => {
  const site = new TestSite();
  const ended: string[] = [];
  const { subscriber: first } = connect(site);
  // The session reacts to its end only after the next one has joined.
  first.fail = () => void ended.push('first');
  const { subscriber: second } = connect(site);
  second.fail = (error) => {
    ended.push(`second ${error.code}`);
    live.leave(second);
  };
  live.leave(first);
  connect(site);
  expect(ended).toEqual(['first', 'second session-replaced']);
});

it('a live database refuses the pushes that arrive while it ends, after it has ended their session', async () => {
  const site = new TestSite();
  const { subscriber } = connect(site);
  const happened: string[] = [];
  subscriber.fail = ({ code }) => void happened.push(`failed ${code}`);
  const ending = live.end(new RockpoolError('database-unavailable'));
  live.push(
    subscriber,
    {
      type: 'push',
      previousHash: site.hashes[0] as Uint8Array,
      olderEpochUpTo: 0,
      changesets: withAges([site.write([insert('accounts', 'x', { name: 'Cash' })])], site.nowMs()),
    },
    { principal: 'a', receivedMs: NOW_MS },
    (refusal) => void happened.push(`refused ${refusal?.code ?? ''}`),
  );
  await ending;
  live = open();
  expect(happened).toEqual(['failed database-unavailable', 'refused database-unavailable']);
});

it('a live database removes a session when its first delivery fails', () => {
  const site = new TestSite();
  const { subscriber } = connect(site);
  live.push(
    subscriber,
    {
      type: 'push',
      previousHash: site.hashes[0] as Uint8Array,
      olderEpochUpTo: 0,
      changesets: withAges([site.write([insert('accounts', 'x', { name: 'Cash' })])], site.nowMs()),
    },
    { principal: 'a', receivedMs: NOW_MS },
    () => undefined,
  );
  live.settle();
  live.leave(subscriber);
  expect(live.isIdle).toBe(true);
  live.file.sql.exec('ALTER TABLE accounts RENAME TO damaged');
  expect(() => connect(new TestSite())).toThrow();
  expect(live.isIdle).toBe(true);
});

it('a live database begins one log epoch for all clients that have seen lost log entries at the same time, even with asynchronous commits', async () => {
  const { file } = live;
  const before = file.logEpoch.id;
  const lost = lostHash(file.sql, 7);
  let last: Promise<unknown> = Promise.resolve();
  const inTurns = <Result>(body: () => Result): Promise<Result> => {
    const done = last.then(() => file.sql.transaction(body));
    last = done;
    return done;
  };
  const slow = new LiveDatabase(
    { ...durableInFile(file), commit: inTurns },
    { onFailure: (error) => expect.unreachable(String(error)) },
  );
  const ahead = (): DirectSession => {
    const replica = new Replica();
    Object.assign(replica.site, { logEpoch: before, cursor: 7 });
    replica.site.logHashes.set(7, lost);
    return new DirectSession(slow, replica, NOW_MS);
  };
  const sessions = [ahead(), ahead(), ahead()];
  await untilCommitted();
  expect(file.logEpoch.id).not.toEqual(before);
  expect(sessions.map(({ replica, failure }) => [replica.site.logEpoch, failure])).toEqual(
    sessions.map(() => [file.logEpoch.id, null]),
  );
});

it('a live database sends nothing to other instances after it is lost', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  void live.close();
  const bus = new InProcessBus();
  const open = (name: string): LiveDatabase => {
    const onError = (error: unknown): void => expect.unreachable(String(error));
    return new LiveDatabase(openDatabaseFile(join(folder, name), TEST_SCHEMA), {
      onFailure: onError,
      presenceRelay: new PresenceRelay({ bus, databaseId: 'a', repeatMs: 1, onError }),
    });
  };
  live = open('b.sqlite');
  const { subscriber } = connect(new TestSite());
  live.show(subscriber, { type: 'presence', states: [] }, { principal: { id: 'a' }, nowMs: NOW_MS });
  let said = 0;
  bus.subscribe({ databaseId: 'a' }, () => void said++);
  await vi.advanceTimersByTimeAsync(10);
  expect(said).toBeGreaterThan(0);
  live.lose(new RockpoolError('database-unavailable'));
  said = 0;
  live = open('c.sqlite');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(said).toBe(0);
});

it('a live database ends a session whose site has written through another instance, because a copy of its file may be in use there', () => {
  const shared = openDatabaseFile(':memory:', TEST_SCHEMA);
  const [here, there] = [0, 1].map(() => new LiveDatabase(shared, { onFailure: () => undefined })) as [
    LiveDatabase,
    LiveDatabase,
  ];
  const [original, reader] = [0, 1].map(() => new DirectSession(here, new Replica(), NOW_MS)) as [
    DirectSession,
    DirectSession,
  ];
  const copy = new DirectSession(there, original.replica, NOW_MS);
  copy.replica.write([insert('notes', 'n', { reads: 0n })]);
  copy.push(1, 1, NOW_MS);
  there.settle();
  reader.deliveries.length = 0;
  // Commits up to `from` are of an unfinished push at this instance.
  here.followed(shared.log.watermark);
  expect(original.failure).toBeNull();
  reader.deliveries.length = 0;
  copy.replica.write([insert('notes', 'm', { reads: 0n })]);
  copy.push(2, 2, NOW_MS);
  there.settle();
  here.followed(1);
  expect(original.failure?.code).toBe('session-replaced');
  expect(reader.failure).toBeNull();
  expect(reader.deliveries.map(({ to }) => to)).toEqual([2]);
  shared.sql.close();
});

it('a live database ends a session that has not received a delete whose tombstone another instance has pruned [MR-33]', () => {
  const shared = openDatabaseFile(':memory:', TEST_SCHEMA);
  const [here, there] = [0, 1].map(() => new LiveDatabase(shared, { onFailure: () => undefined })) as [
    LiveDatabase,
    LiveDatabase,
  ];
  const author = new DirectSession(there, new Replica(), NOW_MS);
  const commit = (sequence: number, change: Parameters<Replica['write']>[0][number], nowMs: number): void => {
    author.replica.write([change]);
    author.push(sequence, sequence, nowMs);
    there.settle();
  };
  commit(1, insert('notes', 'n', { reads: 0n }), NOW_MS);
  const behind = new DirectSession(here, new Replica(), NOW_MS);
  behind.applyAll();
  commit(2, remove('notes', 'n'), NOW_MS);
  const ahead = new DirectSession(here, new Replica(), NOW_MS);
  ahead.applyAll();
  commit(3, insert('notes', 'm', { reads: 0n }), NOW_MS + RETENTION.tombstonesMs + 1);
  expect(shared.tombstones.tombstoneHorizon).toBe(2);
  here.followed(1);
  expect(behind.failure?.code).toBe('slow-consumer');
  expect(ahead.deliveries).toMatchObject([{ whole: false, from: 2, to: 3 }]);
  const again = new DirectSession(here, behind.replica, NOW_MS);
  expect(again.deliveries).toMatchObject([{ whole: true, from: 0, to: 3 }]);
  shared.sql.close();
});
