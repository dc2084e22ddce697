import { decodeServerMessage, type ChangeGroup, type RockpoolError, type ServerMessage } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { DirectSession } from '../../testing/direct-session.ts';
import { insert, remove, type Change } from '../../testing/changeset.ts';
import { Replica } from '../../testing/replica.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { EVERYTHING, type ReadFilter } from '../store/read-filter.ts';
import { Deliveries } from './deliveries.ts';
import { FanOut } from './fan-out.ts';
import type { Subscription } from './subscription.ts';

const NOW_MS = 1_763_683_200_000;

it('fan-out does not send a prepared delivery to a session that has moved on, or has received outcomes since', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const live = new LiveDatabase(file, { onFailure: () => undefined });
  const author = new DirectSession(live, new Replica(), NOW_MS);
  const sent: { readonly name: string; readonly message: ServerMessage }[] = [];
  const subscribe = (name: string): Subscription => ({
    subscriber: {
      site: name.repeat(32),
      hasEnded: false,
      send: (message) => sent.push({ name, message: decodeServerMessage(message) }),
      fail: (error: RockpoolError) => {
        throw error;
      },
    },
    filter: EVERYTHING,
    principal: name,
    logEpoch: file.logEpoch.id,
    siteNumber: null,
    cursor: 0,
    lastAckedSequence: 0,
    ownFrom: 0,
  });
  const [behind, moved, acknowledged] = [subscribe('b'), subscribe('c'), subscribe('d')];
  const fanOut = new FanOut({
    file,
    deliveries: new Deliveries(file, 1_000_000),
    subscribed: () => [behind, moved, acknowledged],
    onFailure: (_, error) => {
      throw error;
    },
  });
  author.replica.write([insert('notes', 'n', { reads: 0n })]);
  author.push(1, 1, NOW_MS);
  live.settle();
  const prepared = fanOut.prepare(new Set());
  moved.cursor = file.log.watermark;
  acknowledged.lastAckedSequence = 7;
  fanOut.publish(new Set(), prepared);
  expect(sent).toMatchObject([
    { name: 'b', message: { from: 0, to: 1, lastAckedSequence: 0 } },
    { name: 'd', message: { from: 0, to: 1, lastAckedSequence: 7 } },
  ]);
  expect([behind.cursor, moved.cursor]).toEqual([1, 1]);
  file.sql.close();
});

it('fan-out reports a session whose delivery fails, and delivers to the others', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const live = new LiveDatabase(file, { onFailure: () => undefined });
  const author = new DirectSession(live, new Replica(), NOW_MS);
  const events: string[] = [];
  const subscribe = (name: string, send: () => void): Subscription => ({
    subscriber: {
      site: name.repeat(32),
      hasEnded: false,
      send,
      fail: (error: RockpoolError) => {
        throw error;
      },
    },
    filter: EVERYTHING,
    principal: name,
    logEpoch: file.logEpoch.id,
    siteNumber: null,
    cursor: 0,
    lastAckedSequence: 0,
    ownFrom: 0,
  });
  const failing = subscribe('b', () => {
    throw new Error('not sent');
  });
  const fanOut = new FanOut({
    file,
    deliveries: new Deliveries(file, 1_000_000),
    subscribed: () => [failing, subscribe('c', () => void events.push('c gets a delivery'))],
    onFailure: ({ site }, error) => events.push(`${site.slice(0, 1)} ${String(error)}`),
  });
  author.replica.write([insert('notes', 'n', { reads: 0n })]);
  author.push(1, 1, NOW_MS);
  live.settle();
  fanOut.publish(new Set());
  expect(events).toEqual(['b Error: not sent', 'c gets a delivery']);
  file.sql.close();
});

it('fan-out sends one message to all sessions at one position, and each position gets its own', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const live = new LiveDatabase(file, { onFailure: () => undefined });
  const author = new DirectSession(live, new Replica(), NOW_MS);
  const sent = new Map<string, Uint8Array>();
  const subscribe = (name: string, position: Partial<Subscription> = {}): Subscription => ({
    subscriber: {
      site: name.repeat(32),
      hasEnded: false,
      send: (...messages) => void sent.set(name, messages[0] as Uint8Array),
      fail: (error: RockpoolError) => {
        throw error;
      },
    },
    filter: EVERYTHING,
    principal: name,
    logEpoch: file.logEpoch.id,
    siteNumber: null,
    cursor: 0,
    lastAckedSequence: 0,
    ownFrom: 0,
    ...position,
  });
  const sessions = [
    subscribe('a'),
    subscribe('b', { siteNumber: 8, lastAckedSequence: 5 }),
    subscribe('c'),
    subscribe('d', { siteNumber: 9, lastAckedSequence: 7 }),
    subscribe('e', { siteNumber: 10, lastAckedSequence: 7 }),
    subscribe('f', { cursor: 1 }),
  ];
  const fanOut = new FanOut({
    file,
    deliveries: new Deliveries(file, 1_000_000),
    subscribed: () => sessions,
    onFailure: (_, error) => {
      throw error;
    },
  });
  for (const sequence of [1, 2]) {
    author.replica.write([insert('notes', `n${sequence}`, { reads: 0n })]);
    author.push(sequence, sequence, NOW_MS);
    live.settle();
  }
  fanOut.publish(new Set());
  const message = (name: string): Uint8Array => sent.get(name) as Uint8Array;
  expect(message('a')).toBe(message('c'));
  expect(message('d')).toBe(message('e'));
  const received = sessions.map(({ subscriber }) => decodeServerMessage(message(subscriber.site.slice(0, 1))));
  expect(received).toMatchObject([
    { from: 0, to: 2, lastAckedSequence: 0 },
    { from: 0, to: 2, lastAckedSequence: 5 },
    { from: 0, to: 2, lastAckedSequence: 0 },
    { from: 0, to: 2, lastAckedSequence: 7 },
    { from: 0, to: 2, lastAckedSequence: 7 },
    { from: 1, to: 2, lastAckedSequence: 0 },
  ]);
  expect(sessions.map(({ cursor, lastAckedSequence }) => [cursor, lastAckedSequence])).toEqual(
    [0, 5, 0, 7, 7, 0].map((lastAckedSequence) => [2, lastAckedSequence]),
  );
  file.sql.close();
});

it('fan-out sends the delete of a row that was also inserted since only to sites that have written, which may have it', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const live = new LiveDatabase(file, { onFailure: () => undefined });
  const author = new DirectSession(live, new Replica(), NOW_MS);
  const received: Record<string, string[]> = {};
  const subscribe = (name: string, siteNumber: number | null): Subscription => ({
    subscriber: {
      site: name.repeat(32),
      hasEnded: false,
      send: (bytes) => {
        const message = decodeServerMessage(bytes);
        received[name] = message.type === 'delivery' ? message.groups.map(({ kind }) => kind) : [];
      },
      fail: (error: RockpoolError) => {
        throw error;
      },
    },
    filter: EVERYTHING,
    principal: name,
    logEpoch: file.logEpoch.id,
    siteNumber,
    cursor: 1,
    lastAckedSequence: 0,
    ownFrom: 0,
  });
  const sessions = [subscribe('a', null), subscribe('b', 8), subscribe('c', null)];
  const fanOut = new FanOut({
    file,
    deliveries: new Deliveries(file, 1_000_000),
    subscribed: () => sessions,
    onFailure: (_, error) => {
      throw error;
    },
  });
  const changes: readonly Change[] = [
    insert('notes', 'n', { reads: 0n }),
    insert('notes', 'm', { reads: 0n }),
    remove('notes', 'm'),
  ];
  for (const [index, change] of changes.entries()) {
    author.replica.write([change]);
    author.push(index + 1, index + 1, NOW_MS);
    live.settle();
  }
  fanOut.publish(new Set());
  expect(received).toEqual({ a: [], b: ['delete'], c: [] });
  file.sql.close();
});

it('fan-out ends sessions of an older log epoch, and delivers nothing to them', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const live = new LiveDatabase(file, { onFailure: () => undefined });
  const author = new DirectSession(live, new Replica(), NOW_MS);
  const events: string[] = [];
  const subscribe = (name: string): Subscription => ({
    subscriber: {
      site: name.repeat(32),
      hasEnded: false,
      send: () => events.push(`${name} gets a delivery`),
      fail: ({ code }) => {
        events.push(`${name} ends with ${code}`);
        subscribed.delete(name);
      },
    },
    filter: EVERYTHING,
    principal: name,
    logEpoch: file.logEpoch.id,
    siteNumber: null,
    cursor: 0,
    lastAckedSequence: 0,
    ownFrom: 0,
  });
  const subscribed = new Map([['b', subscribe('b')]]);
  // Acts like another instance, in the file that this one has followed.
  file.sql.transaction(() => file.logEpoch.renew(0));
  subscribed.set('c', subscribe('c'));
  const fanOut = new FanOut({
    file,
    deliveries: new Deliveries(file, 1_000_000),
    subscribed: () => [...subscribed.values()],
    onFailure: (_, error) => {
      throw error;
    },
  });
  author.replica.write([insert('notes', 'n', { reads: 0n })]);
  author.push(1, 1, NOW_MS);
  live.settle();
  fanOut.publish(new Set());
  expect(events).toEqual(['b ends with epoch-changed', 'c gets a delivery']);
  file.sql.close();
});

it('sessions that need the full state at one position share its messages', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const live = new LiveDatabase(file, { onFailure: () => undefined });
  const author = new DirectSession(live, new Replica(), NOW_MS);
  const deliveries = new Deliveries(file, 500);
  const commit = (sequence: number): void => {
    const changes = Array.from({ length: 100 }, (_, i) => insert('notes', `n${sequence}-${i}`, { reads: 0n }));
    author.replica.write(changes);
    author.push(sequence, sequence, NOW_MS);
    live.settle();
  };
  const sentTo = (begin: (subscription: Subscription) => void, filter: ReadFilter = EVERYTHING): Uint8Array[] => {
    const sent: Uint8Array[] = [];
    begin({
      subscriber: {
        ...{ site: 'b'.repeat(32), hasEnded: false },
        send: (...messages) => void sent.push(...messages),
        fail: (error: RockpoolError) => {
          throw error;
        },
      },
      ...{ filter, principal: 'b', logEpoch: file.logEpoch.id },
      ...{ siteNumber: null, cursor: 0, lastAckedSequence: 0, ownFrom: 0 },
    });
    return sent;
  };
  const resync = (subscription: Subscription): void => deliveries.deliverWhole(subscription);
  commit(1);
  const [first, ...others] = sentTo(resync);
  expect(others.length).toBeGreaterThan(1);
  const firstSync = sentTo((subscription) => deliveries.deliver(subscription, deliveries.update(), true, true));
  expect(firstSync[0]).toBe(first);
  expect(decodeServerMessage(firstSync.at(-1) as Uint8Array)).toMatchObject({ type: 'delivery', whole: false, to: 1 });
  const filtered = { groups: (groups: readonly ChangeGroup[]) => groups, presence: () => [] };
  expect(sentTo(resync, { rows: filtered, schema: null })[0]).not.toBe(first);
  commit(2);
  const later = sentTo(resync);
  expect(later[0]).not.toBe(first);
  expect(decodeServerMessage(later.at(-1) as Uint8Array)).toMatchObject({ type: 'delivery', whole: true, to: 2 });
  file.sql.close();
});
