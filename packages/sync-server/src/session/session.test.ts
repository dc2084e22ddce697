import { deflateRawSync } from 'node:zlib';
import {
  DELIVERY_PART_BYTES,
  encodeMessage,
  encodePacked,
  HELLO_DEADLINE_MS,
  MAX_PUSH_CHANGESETS,
  messageToFrames,
  SILENCE_LIMIT_MS,
  type Push,
} from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Gate } from '../auth/gate.ts';
import type { Operation } from '../auth/role.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { insert, withAges } from '../../testing/changeset.ts';
import { untilCommitted } from '../../testing/direct-session.ts';
import { beginSession, greet, sessionServices, type SessionServices } from '../../testing/socketless-session.ts';
import { TestSite } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { ConnectionQuota } from './connection-quota.ts';
import type { Session } from './session.ts';
import { REAUTHORIZE_INTERVAL_MS } from './session-rules.ts';

const MIB = 1024 * 1024;

let database: LiveDatabase;
beforeEach(() => {
  database = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), { onFailure: () => undefined });
});
afterEach(() => {
  void database.close();
});

/** Pushes one changeset of this size, which is decided only in a later turn of the event loop. */
function push(session: Session, sizeBytes: number, sequence = 1): void {
  const message: Push = {
    type: 'push',
    previousHash: new Uint8Array(16),
    olderEpochUpTo: 0,
    changesets: [{ sequence, stampUs: 1, ageUs: 0, base: 0, body: new Uint8Array(sizeBytes) }],
  };
  for (const frame of messageToFrames(encodeMessage(message))) session.receive(frame);
}

/** Pushes a changeset with one row. */
function pushRow(session: Session): void {
  const site = new TestSite();
  const changesets = withAges([site.write([insert('accounts', 'x', { name: 'x' })])], 0);
  const message: Push = { type: 'push', previousHash: site.hashes[0] as Uint8Array, olderEpochUpTo: 0, changesets };
  for (const frame of messageToFrames(encodeMessage(message))) session.receive(frame);
}

describe('a client that keeps sending while it is paused, as over plain HTTP', () => {
  it('may have one changeset of the maximum size in flight, and is ended when much more waits for its commit', async () => {
    const { session, received } = beginSession(sessionServices(database, () => undefined));
    await greet(session);
    for (const sizeMib of [1, 48, 32]) push(session, sizeMib * MIB);
    expect(session.hasEnded).toBe(false);
    push(session, 1);
    expect(received.at(-1)).toMatchObject({
      type: 'failure',
      code: 'rate-limited',
      fields: { limitBytes: 72 * MIB },
    });
  });

  it('is ended when more than a hello waits for the check of its token', async () => {
    const services = sessionServices(database, () => undefined);
    const authenticate = (): Promise<never> => new Promise(() => undefined);
    const gate = new Gate({ authenticate, authorize: () => true, now: () => 0, log: () => undefined });
    const { session, received } = beginSession({ ...services, gate });
    await greet(session);
    for (let i = 0; i < 600; i++) push(session, 1);
    expect(received.at(-1)).toMatchObject({ type: 'failure', code: 'rate-limited' });
  });

  it('is ended when many empty changesets wait, even if the frames of their pushes are small', async () => {
    const services = sessionServices(database, () => undefined);
    // Decides no push, like a database that is busy.
    const busy = Object.assign(Object.create(database) as LiveDatabase, { push: () => undefined });
    const { session, received } = beginSession({ ...services, openDatabase: () => busy });
    await greet(session);
    const changesets = Array.from({ length: MAX_PUSH_CHANGESETS }, (_, index) => ({
      ...{ sequence: index + 1, stampUs: 1, ageUs: 0, base: 0 },
      body: new Uint8Array(0),
    }));
    const push = encodeMessage({ type: 'push', previousHash: new Uint8Array(16), olderEpochUpTo: 0, changesets });
    const packed = encodePacked({ sizeBytes: push.length, deflated: deflateRawSync(push) });
    expect(packed.length).toBeLessThan(1024);
    for (let i = 0; i < 4; i++) for (const frame of messageToFrames(packed)) session.receive(frame);
    expect(received.at(-1)).toMatchObject({ type: 'failure', code: 'rate-limited' });
  });

  it('is ended when its principal exceeds the limit with messages whose permission is being checked', async () => {
    const quota = new ConnectionQuota(Infinity, MIB);
    const answers: ((isAllowed: boolean) => void)[] = [];
    let isSlow = false;
    const authorize = (): boolean | Promise<boolean> => !isSlow || new Promise((resolve) => void answers.push(resolve));
    const services = { ...sessionServices(database, () => undefined, authorize), connectionQuota: quota };
    const [first, second] = [beginSession(services), beginSession(services)];
    for (const { session } of [first, second]) await greet(session);
    isSlow = true;
    push(first.session, 0.6 * MIB);
    // The check cannot be cancelled, so the message stays in memory.
    first.session.disconnected();
    push(second.session, 0.6 * MIB);
    expect(second.received.at(-1)).toMatchObject({ code: 'rate-limited', fields: { limitBytes: MIB } });
    for (const answer of answers) answer(true);
    await untilCommitted();
    expect(() => quota.receive('ann', MIB)).not.toThrow();
  });

  it('handles a message after the one before, even if it arrives just when the permission is given', async () => {
    const answer = Promise.withResolvers<boolean>();
    let isSlow = false;
    const authorize = (): boolean | Promise<boolean> => !isSlow || answer.promise;
    const services = sessionServices(database, () => undefined, authorize);
    const sequences: number[] = [];
    const recording = Object.assign(Object.create(database) as LiveDatabase, {
      push: (_: unknown, { changesets }: Push) => void sequences.push(...changesets.map(({ sequence }) => sequence)),
    });
    const { session } = beginSession({ ...services, openDatabase: () => recording });
    await greet(session);
    isSlow = true;
    push(session, 1, 1);
    isSlow = false;
    answer.resolve(true);
    // A frame can arrive between any two steps of the check.
    for (let sequence = 2; sequence < 20; sequence++) {
      push(session, 1, sequence);
      await Promise.resolve();
    }
    await untilCommitted();
    expect(sequences).toEqual(Array.from({ length: 19 }, (_, i) => i + 1));
  });

  it('is ended when much more waits for a permission check', async () => {
    let isSlow = false;
    const authorize = (): boolean | Promise<boolean> => !isSlow || new Promise(() => undefined);
    const { session, received } = beginSession(sessionServices(database, () => undefined, authorize));
    await greet(session);
    isSlow = true;
    // The first message is being checked; the others wait for it.
    for (const sizeMib of [1, 48, 32]) push(session, sizeMib * MIB);
    expect(session.hasEnded).toBe(false);
    push(session, 1);
    expect(received.at(-1)).toMatchObject({ type: 'failure', code: 'rate-limited' });
  });
});

describe('a session whose database has changed members', () => {
  it('is checked, but not when another database has changed members', async () => {
    let checkCount = 0;
    const authorize = (): boolean => checkCount++ >= 0;
    const { session } = beginSession(sessionServices(database, () => undefined, authorize));
    const checksAfter = async (change: () => void): Promise<number> => {
      checkCount = 0;
      change();
      await untilCommitted();
      return checkCount;
    };
    // While a session joins, its database is not known yet.
    const joining = await checksAfter(() => session.reauthorizeNow('other'));
    expect([joining, await checksAfter(() => void greet(session))]).toEqual([0, 4]);
    expect(await checksAfter(() => session.reauthorizeNow('other'))).toBe(0);
    expect(await checksAfter(() => session.reauthorizeNow('household'))).toBe(2);
    expect(await checksAfter(() => session.reauthorizeNow())).toBe(2);
  });
});

describe('the sessions of one principal', () => {
  it('hold a limited amount of unfinished messages together, which is free again when a session ends', async () => {
    const quota = new ConnectionQuota(Infinity, MIB);
    const services = { ...sessionServices(database, () => undefined), connectionQuota: quota };
    const [first, second, third] = [beginSession(services), beginSession(services), beginSession(services)];
    for (const { session } of [first, second, third]) await greet(session);
    const part = new Uint8Array(200_000).fill(1, 0, 1);
    for (let i = 0; i < 3; i++) for (const { session } of [first, second]) session.receive(part);
    expect(first.session.hasEnded).toBe(false);
    expect(second.received.at(-1)).toMatchObject({ code: 'rate-limited', fields: { limitBytes: MIB } });
    first.session.disconnected();
    for (let i = 0; i < 5; i++) third.session.receive(part);
    expect(third.session.hasEnded).toBe(false);
    third.session.receive(part);
    expect(third.session.hasEnded).toBe(true);
  });

  it('queue no push that exceeds the limit', async () => {
    const { log } = database.file;
    const quota = new ConnectionQuota(Infinity, 100);
    const { session, received } = beginSession({
      ...sessionServices(database, () => undefined),
      connectionQuota: quota,
    });
    await greet(session);
    pushRow(session);
    expect(received.at(-1)).toMatchObject({ code: 'rate-limited', fields: { limitBytes: 100 } });
    await untilCommitted();
    expect(log.watermark).toBe(0);
    expect(() => quota.receive('ann', 100)).not.toThrow();
  });

  it('hold their waiting pushes until these are decided, also after they have ended', async () => {
    const quota = new ConnectionQuota(Infinity, MIB);
    const services = { ...sessionServices(database, () => undefined), connectionQuota: quota };
    const [first, second, third] = [beginSession(services), beginSession(services), beginSession(services)];
    for (const { session } of [first, second, third]) await greet(session);
    push(first.session, 0.6 * MIB);
    first.session.disconnected();
    push(second.session, 0.6 * MIB);
    expect(second.received.at(-1)).toMatchObject({ code: 'rate-limited' });
    await untilCommitted();
    push(third.session, 0.6 * MIB);
    expect(third.session.hasEnded).toBe(false);
    await untilCommitted();
    expect(() => quota.receive('ann', MIB)).not.toThrow();
  });

  it('may send any amount in total, if each push is decided before the next one', async () => {
    const quota = new ConnectionQuota(Infinity, MIB);
    const { session } = beginSession({ ...sessionServices(database, () => undefined), connectionQuota: quota });
    await greet(session);
    for (let i = 0; i < 5; i++) {
      push(session, MIB / 2);
      await untilCommitted();
    }
    expect(session.hasEnded).toBe(false);
  });
});

describe('the metrics of pushes', () => {
  it('count the seconds from the receipt of each push to its outcome', async () => {
    let nowMs = 0;
    const services = sessionServices(
      database,
      () => undefined,
      undefined,
      () => nowMs,
    );
    const { session } = beginSession(services);
    await greet(session);
    pushRow(session);
    nowMs += 2_000;
    await untilCommitted();
    const lines = services.metrics.render().split('\n');
    for (const line of ['bucket{le="1"} 0', 'bucket{le="2.5"} 1', 'bucket{le="+Inf"} 1', 'sum 2', 'count 1'])
      expect(lines).toContain(`rockpool_push_duration_seconds_${line}`);
  });
});

describe('a session whose connection breaks before it is open', () => {
  it.each(['authenticate', 'openDatabase', 'catchUp', 'join'] as const)(
    'while it waits for %s, stays ended and leaves room for another one of its principal',
    async (step) => {
      const events: string[] = [];
      const held = Promise.withResolvers<void>();
      const hold = (at: string): Promise<void> => (at === step ? held.promise : Promise.resolve());
      const slow = Object.assign(Object.create(database) as LiveDatabase, {
        catchUp: () => hold('catchUp'),
        join: async (...request: Parameters<LiveDatabase['join']>) => {
          await hold('join');
          return database.join(...request);
        },
      });
      const log = (event: string): void => void events.push(event);
      const gate = new Gate({
        authenticate: () => hold('authenticate').then(() => ({ id: 'ann', expiresAtMs: Infinity })),
        ...{ authorize: () => true, now: () => 0, log },
      });
      const connectionQuota = new ConnectionQuota(1);
      const openDatabase = (): Promise<LiveDatabase> => hold('openDatabase').then(() => slow);
      const services = { ...sessionServices(database, log), gate, connectionQuota, openDatabase };
      const { session, received } = beginSession(services);
      await greet(session);
      session.disconnected();
      held.resolve();
      await untilCommitted();
      expect([session.hasEnded, received, events.includes('session-opened')]).toEqual([true, [], false]);
      expect(database.isIdle).toBe(true);
      const next = beginSession(services);
      await greet(next.session);
      expect(next.session.hasEnded).toBe(false);
    },
  );
});

describe('a session whose database is not opened in time', () => {
  it.each(['openDatabase', 'catchUp', 'join'] as const)(
    'ends with the reason before its client gives up, while it waits for %s',
    async (step) => {
      let nowMs = 0;
      const hold = (at: string): Promise<void> => (at === step ? new Promise(() => undefined) : Promise.resolve());
      const slow = Object.assign(Object.create(database) as LiveDatabase, {
        catchUp: () => hold('catchUp'),
        join: () => hold('join'),
      });
      const openDatabase = (): Promise<LiveDatabase> => hold('openDatabase').then(() => slow);
      const events: string[] = [];
      const services = sessionServices(
        database,
        (event) => void events.push(event),
        () => true,
        () => nowMs,
      );
      const { session, received } = beginSession({ ...services, openDatabase });
      await greet(session);
      session.checkDeadlines((nowMs += 12_499));
      expect(session.hasEnded).toBe(false);
      session.checkDeadlines((nowMs += 1));
      expect([session.hasEnded, received]).toMatchObject([true, [{ type: 'failure', code: 'database-unavailable' }]]);
      expect(events).toEqual(['welcome-overdue', 'session-failed']);
    },
  );
});

describe('a session whose host answers slowly whether it may read', () => {
  async function waitingSession(): Promise<{
    session: Session;
    asked: ((isAllowed: boolean) => void)[];
    later(): void;
  }> {
    const asked: ((isAllowed: boolean) => void)[] = [];
    let isSlow = false;
    let nowMs = 0;
    const authorize = (): boolean | Promise<boolean> => !isSlow || new Promise((resolve) => void asked.push(resolve));
    const services = sessionServices(
      database,
      () => undefined,
      authorize,
      () => nowMs,
    );
    const { session } = beginSession(services);
    await greet(session);
    isSlow = true;
    return { session, asked, later: () => session.checkDeadlines((nowMs += 2_000)) };
  }

  it('asks one question at a time', async () => {
    const { asked, later } = await waitingSession();
    for (let i = 0; i < 10; i++) later();
    expect(asked).toHaveLength(1);
  });

  it('asks again after the answer if rights changed meanwhile', async () => {
    const { session, asked, later } = await waitingSession();
    later();
    session.reauthorizeNow();
    session.reauthorizeNow();
    expect(asked).toHaveLength(1);
    asked[0]?.(true);
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.(true);
    await expect.poll(() => asked.length).toBe(3);
    asked[2]?.(false);
    await expect.poll(() => session.hasEnded).toBe(true);
  });
});

describe('a session that its database no longer serves', () => {
  it('ends when the database is closed', async () => {
    const closing = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), { onFailure: () => undefined });
    const { session, received } = beginSession(sessionServices(closing, () => undefined));
    await greet(session);
    await closing.close();
    expect([session.hasEnded, received.at(-1)]).toMatchObject([
      true,
      { type: 'failure', code: 'database-unavailable' },
    ]);
  });

  it('gets no answer to a ping, so that its client connects again', async () => {
    const { session, received } = beginSession(sessionServices(database, () => undefined));
    await greet(session);
    const ping = (): void => {
      for (const frame of messageToFrames(encodeMessage({ type: 'ping' }))) session.receive(frame);
    };
    ping();
    expect(received.at(-1)).toMatchObject({ type: 'pong' });
    database.leave(session);
    ping();
    expect(received.at(-1)).toMatchObject({ type: 'failure', code: 'database-unavailable' });
  });
});

describe('a session whose principal loses a right while a push waits', () => {
  it.each([
    ['the right to read', 'read'],
    ['the right to write', 'write'],
  ] as const)('ends without %s, and the push is refused', async (_, lost) => {
    let isRevoked = false;
    const authorize = (_principal: unknown, _databaseId: string, operation: Operation): boolean =>
      !isRevoked || (lost === 'write' && operation === 'read');
    const { session } = beginSession(sessionServices(database, () => undefined, authorize));
    await greet(session);
    pushRow(session);
    isRevoked = true;
    session.reauthorizeNow();
    await untilCommitted();
    expect(session.hasEnded).toBe(true);
    expect(database.file.log.watermark).toBe(0);
  });

  it('has its push admitted if it loses only its connection', async () => {
    const { session } = beginSession(sessionServices(database, () => undefined));
    await greet(session);
    pushRow(session);
    session.disconnected();
    await untilCommitted();
    expect(database.file.log.watermark).toBe(1);
  });
});

describe('a session while the server’s clock is set back', () => {
  /**
   * `passAfterSetBack` returns the monotonic time after `durationMs` in which the wall clock is set back by an hour.
   */
  function clocks(authorize: () => boolean = () => true): {
    readonly services: SessionServices;
    readonly passAfterSetBack: (durationMs: number) => number;
  } {
    let [wallMs, monotonicMs] = [24 * 60 * 60 * 1000, 0];
    const services = sessionServices(
      database,
      () => undefined,
      authorize,
      () => wallMs,
      () => monotonicMs,
    );
    const passAfterSetBack = (durationMs: number): number => {
      wallMs -= 60 * 60 * 1000;
      return (monotonicMs += durationMs);
    };
    return { services, passAfterSetBack };
  }

  it('ends soon after the right to read is revoked', async () => {
    let mayRead = true;
    const { services, passAfterSetBack } = clocks(() => mayRead);
    const { session, received } = beginSession(services);
    await greet(session);
    mayRead = false;
    session.checkDeadlines(passAfterSetBack(REAUTHORIZE_INTERVAL_MS));
    await untilCommitted();
    expect(received.at(-1)).toMatchObject({ type: 'failure', code: 'auth-database-forbidden' });
  });

  it.each([
    ['says nothing', false, HELLO_DEADLINE_MS],
    ['is silent', true, SILENCE_LIMIT_MS],
  ])('ends at its deadline if the client %s', async (_, saysHello, deadlineMs) => {
    const { services, passAfterSetBack } = clocks();
    const { session } = beginSession(services);
    if (saysHello) await greet(session);
    session.checkDeadlines(passAfterSetBack(deadlineMs - 1));
    expect(session.hasEnded).toBe(false);
    session.checkDeadlines(passAfterSetBack(1));
    expect(session.hasEnded).toBe(true);
  });

  it('ends if the client stops reading', async () => {
    const { services, passAfterSetBack } = clocks();
    let unreadBytes = 0;
    const { session } = beginSession(services, {
      send: (frame) => void (unreadBytes += frame.length),
      unreadBytes: () => unreadBytes,
    });
    await greet(session);
    session.send(...Array.from({ length: 40 }, () => new Uint8Array(DELIVERY_PART_BYTES)));
    for (let silences = 0; silences < 3; silences++) {
      session.checkDeadlines(passAfterSetBack(SILENCE_LIMIT_MS - 1));
      for (const frame of messageToFrames(encodeMessage({ type: 'ping' }))) session.receive(frame);
    }
    expect(session.hasEnded).toBe(true);
  });
});

describe('a client that does not read a large catch-up', () => {
  const MINUTE_MS = 60_000;

  it('is ended even if it sends pings', async () => {
    let nowMs = 0;
    const services = sessionServices(
      database,
      () => undefined,
      undefined,
      () => nowMs,
    );
    let unreadBytes = 0;
    const { session } = beginSession(services, {
      send: (frame) => void (unreadBytes += frame.length),
      unreadBytes: () => unreadBytes,
    });
    await greet(session);
    session.send(...Array.from({ length: 40 }, () => new Uint8Array(DELIVERY_PART_BYTES)));
    let minutes = 0;
    for (; !session.hasEnded && minutes < 60; minutes++) {
      nowMs += MINUTE_MS / 2;
      for (const frame of messageToFrames(encodeMessage({ type: 'ping' }))) session.receive(frame);
      session.checkDeadlines((nowMs += MINUTE_MS / 2));
    }
    expect(minutes).toBeLessThan(3);
  });
});

describe('a client that reads a large catch-up without a pause', () => {
  it('does not count as silent, even if it sends nothing meanwhile', async () => {
    let nowMs = 0;
    const services = sessionServices(
      database,
      () => undefined,
      undefined,
      () => nowMs,
    );
    let unreadBytes = 0;
    let onDrained: () => void = () => undefined;
    const { session } = beginSession(services, {
      send: (frame) => void (unreadBytes += frame.length),
      unreadBytes: () => unreadBytes,
      whenDrained: (callback) => void (onDrained = callback),
    });
    await greet(session);
    session.send(...Array.from({ length: 40 }, () => new Uint8Array(DELIVERY_PART_BYTES)));
    for (let part = 0; part < 40; part++) {
      nowMs += SILENCE_LIMIT_MS / 2;
      unreadBytes = 0;
      onDrained();
      session.checkDeadlines((nowMs += SILENCE_LIMIT_MS / 4));
    }
    expect(session.hasEnded).toBe(false);
    session.checkDeadlines(nowMs + SILENCE_LIMIT_MS);
    expect(session.hasEnded).toBe(true);
  });
});
