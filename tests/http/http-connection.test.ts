import { expect, it, vi } from 'vitest';
import type { ServerMessage } from '#shared/index.ts';
import { systemClock } from '#client/worker/leader/clock.ts';
import { newId } from '#client/new-id.ts';
import { httpTransport } from '#client/worker/sync/http-transport.ts';
import { connectOver } from '#client/worker/sync/server-connection.ts';
import { createSyncEngine } from '#client/worker/sync/sync-engine.ts';
import { toSyncDatabase } from '#client/worker/sync/sync-database.ts';
import type { SyncReport } from '#client/worker/sync/sync-status.ts';
import { SitePresence } from '#client/worker/presence/site-presence.ts';
import { openInMemory } from '#client/testing/worker/test-database.ts';
import { insert } from '#sync-server/testing/changeset.ts';
import { serverUnderTest } from '#sync-server/testing/server-under-test.ts';
import { TEST_SCHEMA } from '#sync-server/testing/test-schema.ts';
import { DATABASE } from '#sync-server/testing/test-server.ts';
import { until } from '#kit/until.ts';

const tested = serverUnderTest();

it('syncs both ways and shares presence over plain HTTP, with the engine and database of a real client', async () => {
  const database = openInMemory({
    schema: TEST_SCHEMA,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    nowMs: Date.now,
    elapsedMs: () => performance.now(),
  });
  let report: SyncReport | null = null;
  const types: ServerMessage['type'][] = [];
  const presence = new SitePresence({
    clock: systemClock,
    onUpdate: () => undefined,
    onProblem: (error) => expect.unreachable(String(error)),
  });
  const engine = createSyncEngine({
    presence,
    url: `ws://${tested.server.host}`,
    databaseId: DATABASE,
    token: () => tested.server.token(),
    database: toSyncDatabase({ database, elapsedMs: () => performance.now(), onApplied: () => undefined }),
    connect: (url, events) =>
      connectOver(httpTransport)(url, {
        ...events,
        onMessage: (message) => (types.push(message.type), events.onMessage(message)),
      }),
    inTurn: (job) => job(),
    onReport: (now) => (report = now),
    onProblem: () => undefined,
    onStuck: () => undefined,
  });
  database.write({
    id: 'w',
    statements: [{ sql: `INSERT INTO accounts (id, name) VALUES ('mine', 'Cash')`, params: [] }],
  });
  engine.start();
  await until(() => report?.state === 'up-to-date');
  expect(tested.server.query('SELECT id FROM accounts')).toEqual([['mine']]);
  const other = await tested.server.open();
  await other.commit([insert('accounts', 'theirs', { name: 'Bank' })]);
  await until(() => database.connection.value(`SELECT count(*) FROM accounts`) === 2);
  presence.show(newId(), [{ topic: '', stateJson: '"over HTTP"' }]);
  other.send({ type: 'presence', states: [{ tabId: new Uint8Array(16), topic: '', stateJson: '"over a socket"' }] });
  await until(() => presence.everybody.seen.length === 2);
  expect(new Set(presence.everybody.seen.map(({ stateJson }) => stateJson))).toEqual(
    new Set(['"over HTTP"', '"over a socket"']),
  );
  engine.stop();
  await tested.server.logged('session-ended');
  expect(types[0]).toBe('welcome');
  database.close();
});

it('syncs over plain HTTP if every request is repeated, as browsers and proxies do when a response is lost', async () => {
  const { fetch: request } = globalThis;
  vi.stubGlobal('fetch', async (address: string, init: RequestInit) => {
    // A session that is opened twice remains unused.
    await (await request(address, init)).arrayBuffer();
    return request(address, init);
  });
  const database = openInMemory({ schema: TEST_SCHEMA });
  let report: SyncReport | null = null;
  const reasons: string[] = [];
  const engine = createSyncEngine({
    url: `ws://${tested.server.host}`,
    databaseId: DATABASE,
    token: () => tested.server.token(),
    database: toSyncDatabase({ database, elapsedMs: () => performance.now(), onApplied: () => undefined }),
    connect: connectOver(httpTransport),
    inTurn: (job) => job(),
    onReport: (now) => {
      report = now;
      if (now.reason !== null) reasons.push(now.reason.code);
    },
    onProblem: () => undefined,
    onStuck: () => undefined,
  });
  try {
    // Too large for one frame.
    const sql = `INSERT INTO accounts (id, name) VALUES ('mine', hex(randomblob(400000)))`;
    database.write({ id: 'w', statements: [{ sql, params: [] }] });
    engine.start();
    await until(() => report?.state === 'up-to-date' || reasons.length > 0);
    expect(reasons).toEqual([]);
    expect(tested.server.query('SELECT id FROM accounts')).toEqual([['mine']]);
  } finally {
    engine.stop();
    vi.unstubAllGlobals();
    database.close();
  }
});
