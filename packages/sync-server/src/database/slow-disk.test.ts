import { join } from 'node:path';
import { encodeChangesetBody, RockpoolError } from '@rockpool/shared';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { followChanges } from '../backend/change-feed.ts';
import { toServerDatabase } from '../backend/server-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { durableOnceSynced } from '../store/durability.ts';
import { insert } from '../../testing/changeset.ts';
import { DirectSession, untilCommitted } from '../../testing/direct-session.ts';
import { FakeLogSync } from '../../testing/fake-log-sync.ts';
import { lostHash } from '../../testing/lost-hash.ts';
import { Replica } from '../../testing/replica.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { LiveDatabase } from './live-database.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const NOW_MS = 1_763_683_200_000;

let folder: string;
let disk: FakeLogSync;
/** The watermark that would survive a power cut now. */
let lastsUpTo: number;
let live: LiveDatabase;

function open(): void {
  // Bound to this database, so that the syncs of an earlier one do not reach its disk.
  const ownDisk = new FakeLogSync();
  disk = ownDisk;
  lastsUpTo = 0;
  const file = openDatabaseFile(join(folder, `${crypto.randomUUID()}.sqlite`), TEST_SCHEMA);
  const sync = async (): Promise<void> => {
    const { watermark } = file.log;
    await ownDisk.sync();
    lastsUpTo = Math.max(lastsUpTo, watermark);
  };
  const opened = durableOnceSynced(file, { sync, close: () => undefined }, () =>
    opening.lose(new RockpoolError('database-unavailable')),
  );
  const opening = new LiveDatabase(opened, { onFailure: () => undefined });
  live = opening;
}

beforeEach(() => {
  folder = temporaryFolder();
  open();
});

function arrive(): DirectSession {
  return new DirectSession(live, new Replica(), NOW_MS);
}

function write(session: DirectSession): void {
  const { replica } = session;
  replica.write([insert('notes', crypto.randomUUID(), { reads: 0n })]);
  const { length } = replica.site.changelog;
  session.push(length, length, NOW_MS);
}

const toldUpTo = (session: DirectSession): number => Math.max(0, ...session.deliveries.map(({ to }) => to));

async function finishAll(): Promise<void> {
  while (!live.isIdle && disk.isAsked) await disk.finishNext();
}

describe('while a commit waits for the disk', () => {
  it('no author, other session, joining session or change feed receives the commit', async () => {
    const [author, reader] = [arrive(), arrive()];
    write(author);
    await untilCommitted();
    const newcomer = arrive();
    const feed = followChanges(() => Promise.resolve(live), null, new AbortController().signal).next();
    let fed: unknown = null;
    void feed.then(({ value }) => (fed = value));
    await untilCommitted();
    expect([author, reader, newcomer].map(toldUpTo)).toEqual([0, 0, 0]);
    expect(newcomer.deliveries).toEqual([]);
    expect(fed).toBeNull();
    await disk.finishNext();
    expect([author, reader, newcomer].map(toldUpTo)).toEqual([1, 1, 1]);
    expect(fed).toMatchObject({ watermark: 1 });
  });

  it('its deliveries are read and encoded, but sent only afterwards', async () => {
    const [author, reader, other] = [arrive(), arrive(), arrive()];
    for (let i = 0; i < 2; i++) {
      write(author);
      await untilCommitted();
      const all = vi.spyOn(live.file.sql, 'all');
      const get = vi.spyOn(live.file.sql, 'get');
      await disk.finishNext();
      expect([all, get].flatMap(({ mock }) => mock.calls.map(([sql]) => sql))).toEqual([]);
      expect([author, reader, other].map(toldUpTo)).toEqual([i + 1, i + 1, i + 1]);
      all.mockRestore();
      get.mockRestore();
    }
  });

  it('the host program receives neither results nor errors based on the commit', async () => {
    const author = arrive();
    const backend = toServerDatabase(
      () => Promise.resolve(live),
      () => NOW_MS,
      new AbortController().signal,
    );
    write(author);
    let given: unknown = null;
    const count = async (fails: boolean): Promise<void> => {
      let rows: unknown;
      try {
        await backend.transaction((tx) => {
          rows = tx.query('SELECT count(*) FROM notes');
          if (fails) throw new Error('too many');
        });
      } finally {
        given = rows;
      }
    };
    const reading = count(false);
    await untilCommitted();
    expect([live.file.log.watermark, given]).toEqual([1, null]);
    await disk.finishNext();
    await reading;
    expect(given).toEqual([[1n]]);
    given = null;
    write(author);
    const failing = Promise.allSettled([count(true)]);
    await untilCommitted();
    expect([live.file.log.watermark, given]).toEqual([2, null]);
    await disk.finishNext();
    expect(await failing).toMatchObject([{ status: 'rejected', reason: { message: 'too many' } }]);
  });

  it('a change feed does not yield a commit that begins between catching up and reading', async () => {
    // The result does not depend on the number of steps in between.
    for (let steps = 0; steps < 12; steps++) {
      open();
      const author = arrive();
      const backend = toServerDatabase(
        async () => {
          for (let step = 0; step < steps; step++) await Promise.resolve();
          return live;
        },
        () => NOW_MS,
        new AbortController().signal,
      );
      const told: (readonly [number, number])[] = [];
      void (async () => {
        for await (const { watermark } of backend.changes()) told.push([watermark, lastsUpTo]);
      })();
      await untilCommitted();
      write(author);
      await untilCommitted();
      const own = live.write(encodeChangesetBody({ atomic: false, groups: [], cellBases: [] }), 'server', NOW_MS);
      await disk.finishNext();
      await finishAll();
      await own;
      for (const [watermark, lasted] of told) expect([steps, watermark]).toEqual([steps, Math.min(watermark, lasted)]);
    }
  });

  it('a change feed ends with the error if the database is lost', async () => {
    const backend = toServerDatabase(
      () => Promise.resolve(live),
      () => NOW_MS,
      new AbortController().signal,
    );
    const from = await backend.changesAfter(null);
    write(arrive());
    await untilCommitted();
    const ended = backend
      .changes({ from })
      .next()
      .catch((thrown: unknown) => thrown);
    await untilCommitted();
    live.lose(new RockpoolError('database-damaged'));
    await disk.finishNext();
    expect(await ended).toMatchObject({ code: 'database-damaged' });
  });

  it('pushes that arrive share the next commit', async () => {
    const author = arrive();
    write(author);
    await untilCommitted();
    for (let i = 0; i < 5; i++) write(author);
    await untilCommitted();
    expect(live.file.log.watermark).toBe(1);
    await disk.finishNext();
    await untilCommitted();
    expect(live.file.log.watermark).toBe(6);
    expect(toldUpTo(author)).toBe(1);
    await disk.finishNext();
    expect(toldUpTo(author)).toBe(6);
  });

  it('a new log epoch ends the sessions of the old one, but not the sessions that waited to join', async () => {
    const old = arrive();
    const logEpoch = live.file.logEpoch.id;
    const ahead = (): DirectSession => {
      const replica = new Replica();
      Object.assign(replica.site, { logEpoch, cursor: 7 });
      replica.site.logHashes.set(7, lostHash(live.file.sql, 7));
      return new DirectSession(live, replica, NOW_MS);
    };
    const waiting = [ahead(), ahead()];
    await untilCommitted();
    expect(old.failure).toBeNull();
    await disk.finishNext();
    expect(old.failure?.code).toBe('epoch-changed');
    expect(waiting.map(({ isWelcome, failure }) => [isWelcome, failure])).toEqual([
      [true, null],
      [true, null],
    ]);
  });

  it('a session that waits to join gets the error of an operator who closes the database meanwhile', async () => {
    const replica = new Replica();
    Object.assign(replica.site, { logEpoch: live.file.logEpoch.id, cursor: 7 });
    replica.site.logHashes.set(7, lostHash(live.file.sql, 7));
    const session = new DirectSession(live, replica, NOW_MS);
    const refusal = Promise.resolve(session.joining).catch((thrown: unknown) => thrown);
    const error = new RockpoolError('database-unavailable', { problem: 'closed by the operator' });
    await live.end(error);
    await disk.finishNext();
    expect(await refusal).toBe(error);
    expect(session.isWelcome).toBe(false);
  });

  it('the database is not idle, even before the first session has joined', async () => {
    const replica = new Replica();
    Object.assign(replica.site, { logEpoch: live.file.logEpoch.id, cursor: 7 });
    replica.site.logHashes.set(7, lostHash(live.file.sql, 7));
    const session = new DirectSession(live, replica, NOW_MS);
    expect([session.isWelcome, live.isIdle]).toEqual([false, false]);
    await disk.finishNext();
    session.leave();
    expect(live.isIdle).toBe(true);
  });

  it('a session that disconnects before it has joined does not join later', async () => {
    write(arrive());
    await untilCommitted();
    const gone = arrive();
    gone.leave();
    const back = new DirectSession(live, gone.replica, NOW_MS);
    await disk.finishNext();
    expect([gone, back].map(({ isWelcome }) => isWelcome)).toEqual([false, true]);
    expect(back.failure).toBeNull();
  });

  it('no client receives a commit that a power cut could undo', async () => {
    const step = fc.constantFrom('arrive', 'write', 'write', 'again', 'disk', 'disk', 'turn' as const);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat()), { minLength: 5, maxLength: 60 }), async (steps) => {
        open();
        let sessions = [arrive()];
        for (const [does, who] of steps) {
          const session = sessions[who % sessions.length] as DirectSession;
          if (does === 'arrive') sessions.push(arrive());
          else if (does === 'write' && session.isWelcome) write(session);
          else if (does === 'disk') await disk.finishNext();
          else if (does === 'turn') await untilCommitted();
          else if (does === 'again') {
            session.applyAll();
            session.leave();
            sessions = sessions.map((one) =>
              one === session ? new DirectSession(live, session.replica, NOW_MS) : one,
            );
          }
          for (const one of sessions) expect(toldUpTo(one)).toBeLessThanOrEqual(lastsUpTo);
        }
        await untilCommitted();
        await finishAll();
        for (const one of sessions) expect(one.failure).toBeNull();
      }),
      { numRuns: 100 },
    );
  });
});

it('a disk failure ends every session of the database with its reason', async () => {
  const [author, reader] = [arrive(), arrive()];
  write(author);
  await untilCommitted();
  let refusal: unknown;
  live.catchUp().catch((error: unknown) => (refusal = error));
  await disk.failNext(new Error('EIO'));
  expect([author, reader].map(({ failure }) => failure?.code)).toEqual([
    'database-unavailable',
    'database-unavailable',
  ]);
  await expect.poll(() => refusal).toMatchObject({ code: 'database-unavailable' });
});

it('a change feed of a lost database continues with its replacement', async () => {
  const first = live;
  const feed = followChanges(() => Promise.resolve(live), null, new AbortController().signal);
  expect((await feed.next()).value).toMatchObject({ watermark: 0 });
  const next = feed.next();
  write(arrive());
  await untilCommitted();
  const failed = disk;
  open();
  await failed.failNext(new Error('EIO'));
  expect(live).not.toBe(first);
  write(arrive());
  await untilCommitted();
  await disk.finishNext();
  expect(await next).toMatchObject({ done: false, value: { whole: true } });
});
