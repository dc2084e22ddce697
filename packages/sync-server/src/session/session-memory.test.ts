import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { beginSession, greet, helloOfNewSite, sessionServices } from '../../testing/socketless-session.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { usedMemory } from '../../testing/used-memory.ts';
import { UNLIMITED_ROOM } from '../admission/quotas.ts';
import { DatabaseHost } from '../database/database-host.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { KnownSchemas } from '../store/known-schemas.ts';
import { sqliteDatabases } from '../store/open-stores.ts';
import { DatabaseOwner } from '../threads/database-owner.ts';
import { Outbox } from '../threads/outbox.ts';
import type { FromOwner } from '../threads/thread-messages.ts';

const SESSIONS = 500;

/** Bytes of objects and buffers that each of many sessions keeps. Compiled code counts before the measurement. */
async function bytesPerSession(open: (count: number) => Promise<void>): Promise<number> {
  await open(SESSIONS);
  const before = usedMemory();
  await open(SESSIONS);
  const after = usedMemory();
  return (after.heapBytes + after.bufferBytes - before.heapBytes - before.bufferBytes) / SESSIONS;
}

it('an idle session keeps little more memory than its socket', async () => {
  const database = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
    onFailure: (error) => {
      throw error;
    },
  });
  onTestFinished(() => database.close());
  const services = sessionServices(database, () => undefined);
  const sessions: unknown[] = [];
  const bytes = await bytesPerSession(async (count) => {
    for (let i = 0; i < count; i++) {
      const { session, received } = beginSession(services);
      await greet(session);
      received.length = 0;
      sessions.push(session);
    }
  });
  expect(sessions).toHaveLength(2 * SESSIONS);
  expect(bytes).toBeLessThan(2_600);
});

it('the thread that owns a database keeps no hello of a session that has joined', async () => {
  const dataDir = temporaryFolder();
  const schemas = new KnownSchemas();
  const stores = sqliteDatabases(dataDir, TEST_SCHEMA, schemas);
  const host = new DatabaseHost({
    ...{ dataDir, schemaHash: TEST_SCHEMA.hash, schemas, rules: {}, documentThreads: 1 },
    ...{ store: stores.store, bus: null },
    roomOf: () => UNLIMITED_ROOM,
    log: () => undefined,
  });
  onTestFinished(async () => {
    await host.close();
    await stores.close();
  });
  let joined = 0;
  let onJoined = (): void => undefined;
  const owner = new DatabaseOwner(
    host,
    new Outbox<FromOwner>((messages) => {
      joined += messages.filter(({ kind }) => kind === 'joined').length;
      onJoined();
    }),
  );
  let session = 0;
  const bytes = await bytesPerSession(async (count) => {
    const all = new Promise<void>((resolve) => {
      onJoined = () => {
        if (joined === session) resolve();
      };
    });
    for (let i = 0; i < count; i++) {
      const hello = structuredClone(helloOfNewSite()); // as it crosses to the thread
      owner.receive({
        ...{ kind: 'join', session: ++session, site: Buffer.from(hello.siteId).toString('hex'), hello },
        access: { principal: { id: 'ann' }, canWrite: true, nowMs: 0 },
      });
    }
    await all;
  });
  expect(bytes).toBeLessThan(900);
});
