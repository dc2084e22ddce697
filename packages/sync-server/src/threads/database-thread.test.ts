import { encodeSchema, FIRST_LOG_HASH, PROTOCOL_VERSION, RockpoolError, type Hello } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { until } from '../../../../tests/kit/until.ts';
import { insert, withAges } from '../../testing/changeset.ts';
import { TestSite } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { UNLIMITED_ROOM } from '../admission/quotas.ts';
import { DatabaseHost } from '../database/database-host.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { damagedError } from '../store/file-damage.ts';
import { KnownSchemas } from '../store/known-schemas.ts';
import { sqliteDatabases } from '../store/open-stores.ts';
import { DatabaseOwner } from './database-owner.ts';
import { DatabaseThread } from './database-thread.ts';
import { Outbox } from './outbox.ts';
import type { FromOwner } from './thread-messages.ts';

const DATABASE = 'household';

const helloOf = (site: TestSite): Hello => ({
  ...{ type: 'hello', protocolVersion: PROTOCOL_VERSION, token: '', databaseId: DATABASE, databaseIdentity: null },
  ...{ schemaHash: TEST_SCHEMA.hash, siteId: site.siteId, logEpoch: null, cursor: 0, cursorHash: FIRST_LOG_HASH },
  ...{ lastAckedSequence: 0, decidedHash: site.hashes[0] as Uint8Array, lastSequence: 0 },
  ...{ fullResync: false, snapshot: 'refused' },
});

const startThread = (script?: URL, log: (event: string) => void = () => undefined): DatabaseThread =>
  new DatabaseThread(
    {
      ...{ index: 0, count: 1, dataDir: temporaryFolder(), schema: encodeSchema(TEST_SCHEMA), olderSchemas: [] },
      ...{ postgres: null, postgresConnections: 0, nats: undefined, documentThreads: 1, rules: { scrub: null } },
    },
    {
      log,
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
  const subscriber: Subscriber = {
    site: Buffer.from(site.siteId).toString('hex'),
    ...{ hasEnded: false, isRevoked },
    send: () => undefined,
    fail: resolve,
  };
  const nowMs = Date.now();
  await thread.join(subscriber, helloOf(site), {
    principal: { id: 'ann' },
    canWrite: true,
    rows: 'everything',
    nowMs,
  });
  const refusals: (RockpoolError | null)[] = [];
  const changesets = withAges([site.write([insert('accounts', 'x', { name: 'x' })])], nowMs);
  return {
    subscriber,
    failed,
    refusals,
    push: () =>
      thread.push(
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

it('a thread that ends while it closes a database has closed it', async () => {
  const script = `
    import { parentPort } from 'node:worker_threads';
    parentPort.postMessage([{ kind: 'started' }]);
    parentPort.once('message', () => process.exit());`;
  const events: string[] = [];
  const ending = startThread(
    new URL(`data:text/javascript,${encodeURIComponent(script)}`),
    (event) => void events.push(event),
  );
  await ending.ready();
  await ending.hold(DATABASE, new RockpoolError('database-unavailable'));
  expect(events).toEqual(['thread-ended']);
  await ending.close();
});

it('a thread that ends before it runs, while the server closes, is reported to callers that wait for it', async () => {
  const ending = startThread(new URL('data:text/javascript,process.exit()'));
  const ready = ending.ready().catch((error: unknown) => error);
  await ending.close();
  expect(await ready).toMatchObject({ code: 'database-unavailable' });
});

/** Ends the sessions of the database on the owning thread, which ignores the messages of these sessions afterwards. */
function takeOffline(): void {
  thread.tell({ kind: 'take-offline', databaseId: DATABASE, error: damagedError('page-checksum').toData() });
}

it('the owner of a database sends nothing to a client that leaves while it joins', async () => {
  const dataDir = temporaryFolder();
  const schemas = new KnownSchemas();
  const stores = sqliteDatabases(dataDir, TEST_SCHEMA, schemas);
  const host = new DatabaseHost({
    ...{ dataDir, schemaHash: TEST_SCHEMA.hash, schemas, rules: {}, documentThreads: 1 },
    ...{ store: stores.store, bus: null },
    roomOf: () => UNLIMITED_ROOM,
    log: () => undefined,
    onFollowed: () => undefined,
    owns: () => true,
  });
  onTestFinished(async () => {
    await host.close();
    await stores.close();
  });
  const sent: string[] = [];
  const joined = Promise.withResolvers<void>();
  const outbox = new Outbox<FromOwner>((messages) => {
    for (const { kind } of messages) sent.push(kind);
    if (sent.includes('joined')) joined.resolve();
  });
  const owner = new DatabaseOwner(host, outbox);
  const site = new TestSite();
  owner.receive({
    ...{ kind: 'join', session: 1, site: Buffer.from(site.siteId).toString('hex') },
    hello: helloOf(site),
    access: { principal: { id: 'ann' }, canWrite: true, nowMs: Date.now() },
  });
  owner.receive({ kind: 'leave', session: 1, isRevoked: false });
  await joined.promise;
  expect(sent).toEqual(['joined']);
});

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
  thread.leave(session.subscriber);
  await thread.hold('other', new RockpoolError('database-unavailable')); // all earlier messages have their response
  expect(session.refusals).toMatchObject([{ code: 'database-damaged' }]);
});

it('a database thread decides the pushes that were queued before their session fails', async () => {
  const session = await join();
  session.push();
  thread.confirm(session.subscriber, 5, 0); // was never sent
  expect(await session.failed).toMatchObject({ code: 'frame-unexpected' });
  await thread.hold(DATABASE, new RockpoolError('database-unavailable'));
  expect(session.refusals).toEqual([null]);
});

it('a database thread decides the pushes of a client that has left', async () => {
  const session = await join();
  session.push();
  thread.leave(session.subscriber);
  await thread.hold(DATABASE, new RockpoolError('database-unavailable'));
  expect(session.refusals).toEqual([null]);
});

it('a database thread refuses the pushes of a client that has left because its rights were revoked', async () => {
  const session = await join(true);
  session.push();
  thread.leave(session.subscriber);
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
