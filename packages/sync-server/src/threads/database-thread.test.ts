import { encodeSchema, FIRST_LOG_HASH, PROTOCOL_VERSION, RockpoolError, type Hello } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { until } from '../../../../tests/kit/until.ts';
import { insert, withAges } from '../../testing/changeset.ts';
import { TestSite } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import type { SessionDatabase } from '../database/live-database.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { damagedError } from '../store/file-damage.ts';
import { DatabaseThread } from './database-thread.ts';

const DATABASE = 'household';

const startThread = (script?: URL): DatabaseThread =>
  new DatabaseThread(
    {
      ...{ index: 0, count: 1, dataDir: temporaryFolder(), schema: encodeSchema(TEST_SCHEMA), olderSchemas: [] },
      ...{ postgres: null, postgresConnections: 0, nats: undefined, documentThreads: 1, rules: { scrub: null } },
    },
    {
      log: () => undefined,
      onRestart: () => undefined,
      onFollowed: () => undefined,
      onStart: () => undefined,
      onCommit: () => undefined,
    },
    script,
  );

let thread: DatabaseThread;
beforeEach(async () => {
  thread = startThread();
  await thread.ready();
});
afterEach(() => thread.close());

interface TestSession {
  readonly database: SessionDatabase;
  readonly subscriber: Subscriber;
  /** Resolves when the session fails. */
  readonly failed: Promise<RockpoolError>;
  /** The refusals of the pushes that are settled. */
  readonly refusals: (RockpoolError | null)[];
  push(): void;
}

async function join(isRevoked: boolean = false): Promise<TestSession> {
  const site = new TestSite();
  const { promise: failed, resolve } = Promise.withResolvers<RockpoolError>();
  const database = thread.open(DATABASE);
  const subscriber: Subscriber = {
    site: Buffer.from(site.siteId).toString('hex'),
    ...{ hasEnded: false, isRevoked },
    send: () => undefined,
    fail: resolve,
  };
  const hello: Hello = {
    ...{ type: 'hello', protocolVersion: PROTOCOL_VERSION, token: '', databaseId: DATABASE, databaseIdentity: null },
    ...{ schemaHash: TEST_SCHEMA.hash, siteId: site.siteId, logEpoch: null, cursor: 0, cursorHash: FIRST_LOG_HASH },
    ...{ lastAckedSequence: 0, decidedHash: site.hashes[0] as Uint8Array, lastSequence: 0 },
    ...{ fullResync: false, snapshot: 'refused' },
  };
  const nowMs = Date.now();
  await database.join(subscriber, hello, { principal: { id: 'ann' }, canWrite: true, rows: 'everything', nowMs });
  const refusals: (RockpoolError | null)[] = [];
  const changesets = withAges([site.write([insert('accounts', 'x', { name: 'x' })])], nowMs);
  return {
    database,
    subscriber,
    failed,
    refusals,
    push: () =>
      database.push(
        subscriber,
        { type: 'push', previousHash: site.hashes[0] as Uint8Array, olderEpochUpTo: 0, changesets },
        { principal: 'ann', receivedMs: nowMs },
        (refusal) => void refusals.push(refusal),
      ),
  };
}

it('the delay of a thread that is stuck grows, even though it reports nothing', async () => {
  const script = `
    import { parentPort } from 'node:worker_threads';
    const state = { openCount: 0, damagedCount: 0, loopDelaySeconds: 0, utilization: 0, bus: null, backup: null };
    parentPort.postMessage([{ kind: 'started' }, { kind: 'state', state }]);
    parentPort.once('message', () => parentPort.close());
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);`;
  const stuck = startThread(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  await stuck.ready();
  expect(stuck.loopDelaySeconds).toBe(0);
  await until(() => stuck.loopDelaySeconds > 0.1);
  await stuck.close();
  expect(stuck.loopDelaySeconds).toBe(0);
});

/** Ends the sessions of the database on the owning thread, which ignores the messages of these sessions afterwards. */
function takeOffline(): void {
  thread.tell({ kind: 'take-offline', databaseId: DATABASE, error: damagedError('page-checksum').toData() });
}

it('a database thread refuses the pushes of a session that fails before they arrive', async () => {
  const session = await join();
  takeOffline();
  session.push();
  expect(await session.failed).toMatchObject({ code: 'database-damaged' });
  expect(session.refusals).toMatchObject([{ code: 'database-damaged' }]);
});

it('a database thread refuses the pushes of a session that fails while its client leaves', async () => {
  const session = await join();
  takeOffline();
  session.push();
  session.database.leave(session.subscriber);
  await thread.hold('other', new RockpoolError('database-unavailable')); // all earlier messages have their response
  expect(session.refusals).toMatchObject([{ code: 'database-damaged' }]);
});

it('a database thread decides the pushes that were queued before their session fails', async () => {
  const session = await join();
  session.push();
  session.database.confirm(session.subscriber, 5, 0); // was never sent
  expect(await session.failed).toMatchObject({ code: 'frame-unexpected' });
  await thread.hold(DATABASE, new RockpoolError('database-unavailable'));
  expect(session.refusals).toEqual([null]);
});

it('a database thread decides the pushes of a client that has left', async () => {
  const session = await join();
  session.push();
  session.database.leave(session.subscriber);
  await thread.hold(DATABASE, new RockpoolError('database-unavailable'));
  expect(session.refusals).toEqual([null]);
});

it('a database thread refuses the pushes of a client that has left because its rights were revoked', async () => {
  const session = await join(true);
  session.push();
  session.database.leave(session.subscriber);
  await thread.hold(DATABASE, new RockpoolError('database-unavailable'));
  expect(session.refusals).toMatchObject([{ code: 'auth-forbidden' }]);
});

it('a database thread reserves little memory for garbage', async () => {
  // The script fills a young generation of any size. Its objects live for a while, as the rows of a changeset do.
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { parentPort } from 'node:worker_threads';
    let kept = [];
    for (let i = 0; i < 500_000; i++) {
      kept.push({ i, values: [i] });
      if (kept.length > 50_000) kept = [];
    }
    const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    parentPort.postMessage([{ kind: 'state', state: space_size }, { kind: 'started' }]);
    parentPort.once('message', () => undefined); // runs until it is closed
  `;
  const measuring = startThread(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  await measuring.ready();
  const { state } = measuring;
  await measuring.close();
  expect(state).toBeGreaterThan(0);
  expect(state).toBeLessThanOrEqual(6 * 2 ** 20);
});
