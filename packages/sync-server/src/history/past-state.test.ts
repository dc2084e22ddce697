import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { buildSchema, encodeKey, RockpoolError } from '@rockpool/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { insert, remove, update } from '../../testing/changeset.ts';
import { DirectSession } from '../../testing/direct-session.ts';
import { holdingAnswers } from '../../testing/held-answers.ts';
import { Replica } from '../../testing/replica.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { Role } from '../auth/role.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { UNLIMITED_ROOM } from '../admission/quotas.ts';
import { DatabaseHost } from '../database/database-host.ts';
import { KnownSchemas } from '../store/known-schemas.ts';
import { sqliteDatabases } from '../store/open-stores.ts';
import { PastStates } from './past-states.ts';
import { TEST_TABLES } from '../../testing/test-schema.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const KEPT: Readonly<Record<string, number | null>> = { accounts: null, cards: null, entries: 30, pages: null };
const schema = buildSchema(
  TEST_TABLES.map((table) =>
    table.name in KEPT ? { ...table, history: { retainedDays: KEPT[table.name] ?? null } } : table,
  ),
);

let nowMs = 0;
const tested = serverUnderTest({ schema, now: () => nowMs });
let a: TestConnection;
beforeEach(async () => {
  nowMs = Date.now();
  a = await tested.server.open();
});

/** Tokens last an hour, so the client connects again. */
async function later(ms: number): Promise<void> {
  nowMs += ms;
  a = await tested.server.open(a.site);
}

async function ask(moment: string): Promise<Response> {
  return tested.server.ask('GET', `/databases/household/past?${moment}`, {
    token: await tested.server.token('viewer'),
  });
}

/** Returns the rows of a query over the past state. */
async function queryAt(moment: string, sql: string): Promise<unknown[]> {
  const response = await ask(moment);
  expect(response.status).toBe(200);
  const path = join(temporaryFolder(), 'past.sqlite');
  writeFileSync(path, gunzipSync(new Uint8Array(await response.arrayBuffer())));
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    return file.prepare(sql).all();
  } finally {
    file.close();
  }
}

async function failureOf(moment: string): Promise<unknown> {
  return (await ask(moment)).json();
}

const ACCOUNTS = 'SELECT id, name, rank FROM accounts ORDER BY id';

describe('a past state', () => {
  it('shows every table with a history after a given changeset, and at a given time', async () => {
    const startMs = nowMs;
    await a.commit([insert('accounts', 'x', { name: 'Cash', rank: 1n }), insert('accounts', 'y', { name: 'Bank' })]);
    await later(MINUTE_MS);
    await a.commit([
      update('accounts', 'x', { name: 'Purse' }),
      insert('entries', 'e', { account_id: 'x', amount: 5n }),
    ]);
    await later(MINUTE_MS);
    await a.commit([remove('accounts', 'y'), update('entries', 'e', { amount: 6n })]);
    const states = [
      [
        { id: 'x', name: 'Cash', rank: 1 },
        { id: 'y', name: 'Bank', rank: null },
      ],
      [
        { id: 'x', name: 'Purse', rank: 1 },
        { id: 'y', name: 'Bank', rank: null },
      ],
      [{ id: 'x', name: 'Purse', rank: 1 }],
    ];
    for (const [index, rows] of states.entries()) {
      expect(await queryAt(`watermark=${index + 1}`, ACCOUNTS)).toEqual(rows);
      expect(await queryAt(`time=${startMs + index * MINUTE_MS}`, ACCOUNTS)).toEqual(rows);
      expect(await queryAt(`time=${startMs + (index + 1) * MINUTE_MS - 1}`, ACCOUNTS)).toEqual(rows);
    }
    expect(await queryAt('watermark=2', 'SELECT amount FROM entries')).toEqual([{ amount: 5 }]);
    expect(await queryAt(`time=${nowMs + DAY_MS}`, 'SELECT amount FROM entries')).toEqual([{ amount: 6 }]);
  });

  it('has every changeset that was admitted by its time, even if the clock of the server ran backwards', async () => {
    const startMs = nowMs;
    await a.commit([insert('accounts', 'x', { name: 'one' })]);
    await later(10 * MINUTE_MS);
    await a.commit([update('accounts', 'x', { name: 'two' })]);
    await later(-5 * MINUTE_MS);
    await a.commit([update('accounts', 'x', { name: 'three' })]);
    const nameAt = async (minutes: number): Promise<unknown> =>
      queryAt(`time=${startMs + minutes * MINUTE_MS}`, 'SELECT name FROM accounts');
    expect(await nameAt(1)).toEqual([{ name: 'one' }]);
    expect(await nameAt(5)).toEqual([{ name: 'three' }]);
    expect(await nameAt(10)).toEqual([{ name: 'three' }]);
  });

  it('names its last changeset, and omits tables without a history', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' }), insert('labels', ['x', 1n], {})]);
    const response = await ask(`time=${nowMs}`);
    expect(response.headers.get('rockpool-watermark')).toBe('1');
    expect(response.headers.get('rockpool-received')).toBe(String(nowMs));
    await response.arrayBuffer();
    expect(await queryAt('watermark=1', 'SELECT watermark, received_ms FROM rockpool_past')).toEqual([
      { watermark: 1, received_ms: nowMs },
    ]);
    const tables = await queryAt('watermark=1', "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    expect(tables.map((row) => (row as { name: string }).name)).toEqual(
      [...Object.keys(KEPT), 'rockpool_past', 'rockpool_past_later_column'].sort(),
    );
  });

  it('contains a row that was deleted later, even after its tombstone is pruned', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([remove('accounts', 'x')]);
    await later(31 * DAY_MS);
    await a.commit([insert('accounts', 'y', { name: 'Bank' })]);
    await a.commit([update('accounts', 'y', { rank: 1n })]);
    expect(await queryAt('watermark=1', 'SELECT id FROM accounts')).toEqual([{ id: 'x' }]);
    expect(await queryAt('watermark=2', 'SELECT id FROM accounts')).toEqual([]);
  });

  it('is refused if versions after the moment have expired, with the time from which all are kept', async () => {
    await a.commit([insert('entries', 'e', { amount: 1n })]);
    await a.commit([update('entries', 'e', { amount: 2n })]);
    await later(20 * DAY_MS);
    const keptMs = nowMs;
    await a.commit([update('entries', 'e', { amount: 3n })]);
    await later(11 * DAY_MS);
    const refused = { code: 'history-moment-gone', fields: { reason: 'not-kept', table: 'entries' } };
    expect(await failureOf('watermark=1')).toMatchObject(refused);
    expect(await queryAt('watermark=2', 'SELECT amount FROM entries')).toEqual([{ amount: 2 }]);
    expect(await queryAt('watermark=3', 'SELECT amount FROM entries')).toEqual([{ amount: 3 }]);
    // Pruning the versions raises the horizon.
    await a.commit([insert('accounts', 'y', { name: 'Bank' })]);
    expect(await failureOf('watermark=1')).toMatchObject(refused);
    expect(await queryAt('watermark=3', 'SELECT amount FROM entries')).toEqual([{ amount: 3 }]);
    expect(keptMs).toBeLessThan(nowMs);
  });

  it('is refused below a deleted row whose versions and tombstone are pruned', async () => {
    await a.commit([insert('entries', 'e', { amount: 1n }), insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([remove('entries', 'e')]);
    await later(31 * DAY_MS);
    for (let rank = 0n; rank < 3n; rank++) await a.commit([update('accounts', 'x', { rank })]);
    expect(await failureOf('watermark=1')).toMatchObject({
      code: 'history-moment-gone',
      fields: { reason: 'not-kept', table: 'entries' },
    });
  });

  it('is refused for a moment before the first changeset, and for a watermark above the log', async () => {
    expect(await failureOf(`time=${nowMs}`)).toMatchObject({
      code: 'history-moment-gone',
      fields: { reason: 'before-start', earliestMs: null },
    });
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    expect(await failureOf(`time=${nowMs - 1}`)).toMatchObject({
      code: 'history-moment-gone',
      fields: { reason: 'before-start', earliestMs: nowMs },
    });
    expect(await failureOf('watermark=2')).toMatchObject({ code: 'request-invalid' });
    for (const invalid of ['', 'watermark=0', 'watermark=-1', 'watermark=1.5', 'time=soon', 'time='])
      expect(await failureOf(invalid)).toMatchObject({ code: 'request-invalid' });
  });

  it('is refused with status 429 while too many requests wait, and built for the others', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    const statuses = new Set<number>();
    // Repeats, because builds may end before the last request arrives.
    while (!statuses.has(429)) {
      const answers = await Promise.all(Array.from({ length: 12 }, () => ask('watermark=1')));
      for (const { status } of answers) statuses.add(status);
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    }
    expect(statuses).toEqual(new Set([200, 429]));
  });

  it('is built after any number of requests that were refused', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    for (let i = 0; i < 9; i++)
      expect(await failureOf(`time=${nowMs - 1}`)).toMatchObject({ code: 'history-moment-gone' });
    expect(await queryAt('watermark=1', 'SELECT id FROM accounts')).toEqual([{ id: 'x' }]);
  });

  it('is built after those requested earlier, unless too many requests for its database wait', async () => {
    const other = await tested.server.open(undefined, { databaseId: 'other' });
    for (const connection of [a, other]) await connection.commit([insert('accounts', 'x', { name: 'Cash' })]);
    const pastStates = new PastStates(temporaryFolder());
    const built: string[] = [];
    const build = async (databaseId: string): Promise<void> => {
      const path = tested.server.pathOf(databaseId);
      await pastStates.build(databaseId, path, { watermark: 1 }, nowMs);
      built.push(databaseId);
    };
    await holdingAnswers(async ({ release }) => {
      const builds = Array.from({ length: 12 }, () => build(DATABASE));
      const inTurn = Promise.all([...builds.slice(0, 8), build('other')]);
      const refused = { status: 'rejected', reason: { code: 'rate-limited' } };
      expect(await Promise.allSettled(builds.slice(8))).toMatchObject([refused, refused, refused, refused]);
      expect(built).toEqual([]);
      release();
      await inTurn;
    });
    expect(built).toEqual([...Array.from({ length: 8 }, () => DATABASE), 'other']);
    await pastStates.close();
  });

  it('is refused if too many requests of all databases wait', async () => {
    const folder = temporaryFolder();
    const pastStates = new PastStates(join(folder, 'past'));
    const codes: string[] = [];
    const builds = Array.from({ length: 33 }, (_, index) =>
      pastStates
        .build('household', join(folder, `missing-${index}`), { watermark: 1 }, nowMs)
        .catch((error: RockpoolError) => void codes.push(error.code)),
    );
    await builds.at(-1);
    await pastStates.close();
    await Promise.all(builds);
    expect(codes.filter((code) => code === 'rate-limited')).toHaveLength(1);
    expect(codes).toContain('database-unavailable');
  });

  it('that waits for others is refused while the server stops', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    const pastStates = new PastStates(temporaryFolder());
    const path = tested.server.pathOf();
    const build = (): Promise<unknown> =>
      pastStates.build(DATABASE, path, { watermark: 1 }, nowMs).catch((error: unknown) => error);
    await holdingAnswers(async ({ begun, release }) => {
      const builds = [build(), build()];
      await begun;
      const closed = pastStates.close();
      release();
      await closed;
      expect(await Promise.all([...builds, build()])).toEqual([
        expect.objectContaining({ watermark: 1 }),
        expect.objectContaining({ code: 'database-unavailable' }),
        expect.objectContaining({ code: 'database-unavailable' }),
      ]);
    });
  });

  it('leaves no file behind', async () => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    await (await ask('watermark=1')).arrayBuffer();
    await failureOf('watermark=2');
    expect(
      readdirSync(join(tested.server.dataDir, 'snapshots'), { recursive: true }).filter((name) =>
        String(name).includes('.past.'),
      ),
    ).toEqual([]);
  });

  it('leaves no file behind if the database is closed while it is built', async () => {
    const dataDir = temporaryFolder();
    const schemas = new KnownSchemas();
    const { store } = sqliteDatabases(dataDir, schema, schemas);
    const host = new DatabaseHost({
      ...{ dataDir, schemaHash: schema.hash, schemas, rules: { scrub: null }, store, bus: null },
      ...{ roomOf: () => UNLIMITED_ROOM, log: () => undefined },
    });
    const live = await host.open('household');
    const session = new DirectSession(live, new Replica(), nowMs);
    session.replica.site.write([insert('accounts', 'x', { name: 'Cash' })]);
    session.push(1, 1, nowMs);
    live.settle();
    await live.catchUp();
    const moment = { watermark: 1 };
    await holdingAnswers(async ({ begun, release }) => {
      const building = host.pastState('household', moment, 'everything', nowMs).catch((error: unknown) => error);
      await begun;
      await host.hold('household', new RockpoolError('database-unavailable'));
      release();
      expect(await building).toMatchObject({ code: 'database-unavailable' });
    });
    expect(readdirSync(join(dataDir, 'snapshots'))).toEqual([]);
    await host.close();
    await store.close();
  });
});

describe('historyRole', () => {
  const restricted = serverUnderTest({ schema, historyRole: 'editor' });

  it('keeps versions and past states from members with a lower role', async () => {
    const connection = await restricted.server.open();
    await connection.commit([insert('accounts', 'x', { name: 'Cash' })]);
    const row = `table=accounts&key=${Buffer.from(encodeKey(['x'])).toString('base64url')}`;
    const statuses = async (role: Role): Promise<number[]> =>
      Promise.all(
        [
          `history?${row}`,
          `history/row?${row}&version=1`,
          'history/written?version=1&table=accounts',
          'past?watermark=1',
        ].map(async (path) => {
          const token = await restricted.server.token(role);
          const answer = await restricted.server.ask('GET', `/databases/household/${path}`, { token });
          await answer.arrayBuffer();
          return answer.status;
        }),
      );
    expect(await statuses('viewer')).toEqual([403, 403, 403, 403]);
    expect(await statuses('editor')).toEqual([200, 200, 200, 200]);
    expect(await statuses('owner')).toEqual([200, 200, 200, 200]);
  });
});
