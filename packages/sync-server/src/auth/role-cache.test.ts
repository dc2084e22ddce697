import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { SlowLink } from '../../testing/slow-link.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { until } from '../../../../tests/kit/until.ts';
import { Connections } from '../postgres/connection.ts';
import { prepareSchema } from '../store/postgres/prepare-schema.ts';
import { readmitted, revokedEverywhere } from './member-store.ts';
import { Members } from './members.ts';
import { PostgresMembers } from './postgres-members.ts';
import { RoleCache, type RoleCacheOptions } from './role-cache.ts';

const postgres = postgresUnderTest();

const DATABASE = 'household';
const ZOE = { databaseId: DATABASE, principal: 'zoe' };

let name: string;
/** The members as another instance or the command uses them. */
let elsewhere: PostgresMembers;
beforeEach(async () => {
  ({ name } = await postgres.server.createPreparedDatabase());
  elsewhere = openMembers();
});

function openMembers(port?: number, answerDeadlineMs?: number): PostgresMembers {
  const url = postgres.server.urlOf(name, port);
  const connections = new Connections(url, { ...(answerDeadlineMs !== undefined && { answerDeadlineMs }) });
  onTestFinished(() => connections.close());
  let prepared: Promise<unknown> | null = null;
  return new PostgresMembers(
    connections,
    async () => void (await (prepared ??= prepareSchema(connections, TEST_SCHEMA))),
  );
}

/** Begins to load a cache that polls only when a test calls `follow`, unless `options` say otherwise. */
function beginCache(store: PostgresMembers, options: Partial<RoleCacheOptions> = {}): RoleCache {
  const never = 2 ** 30;
  const defaults = { pollIntervalMs: never, checkIntervalMs: never, pollDeadlineMs: never, onChanged: () => undefined };
  const cache = new RoleCache({ ...defaults, onError: () => undefined, store, ...options });
  onTestFinished(() => cache.close());
  return cache;
}

async function openCache(store: PostgresMembers, options: Partial<RoleCacheOptions> = {}): Promise<RoleCache> {
  const cache = beginCache(store, options);
  await cache.loading;
  return cache;
}

/** Changes a role as a transaction does that began long before it commits, so that no poll finds it. */
async function writeUnseen(role: string): Promise<void> {
  await postgres.server.query(name, `UPDATE rockpool.rockpool_member SET role = '${role}'`);
}

/** Holds back the next answer of this method. Returns a promise for the answer, and a function that releases it. */
function holdBack(
  store: PostgresMembers,
  method: 'readAll' | 'readDatabase' | 'readPage' | 'readRecent',
): { readonly answered: Promise<void>; release(): void } {
  const [answered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const read = store[method].bind(store) as (...request: unknown[]) => Promise<never>;
  store[method] = async (...request: unknown[]) => {
    store[method] = read;
    const answer = await read(...request);
    answered.resolve();
    await released.promise;
    return answer;
  };
  return { answered: answered.promise, release: released.resolve };
}

it('forgets deleted members, whether or not their database was announced', async () => {
  let changeCount = 0;
  await elsewhere.write({ ...ZOE, role: 'owner' });
  await elsewhere.write({ databaseId: 'other', principal: 'ann', role: 'viewer' });
  const cache = await openCache(openMembers(), { onChanged: () => void changeCount++ });
  await elsewhere.forgetDatabase(DATABASE);
  cache.follow(DATABASE);
  await until(() => cache.rolesIn(DATABASE).size === 0);
  expect(changeCount).toBe(1);
  await elsewhere.forgetDatabase('other');
  cache.follow();
  await until(() => cache.rolesIn('other').size === 0);
  expect(changeCount).toBe(2);
});

it('reads only the members of an announced database to find which of them were deleted', async () => {
  await elsewhere.write({ ...ZOE, role: 'owner' });
  const store = openMembers();
  const cache = await openCache(store);
  store.readPage = () => expect.unreachable();
  await elsewhere.forgetDatabase(DATABASE);
  await elsewhere.write({ ...ZOE, principal: 'ann', role: 'owner' });
  cache.follow(DATABASE);
  await until(() => cache.roleOf(DATABASE, 'zoe') === undefined);
  expect([...cache.rolesIn(DATABASE)]).toEqual([['ann', 'owner']]);
});

it('compares all roles after a failed poll', async () => {
  await elsewhere.write({ ...ZOE, role: 'owner' });
  const store = openMembers();
  const errors: unknown[] = [];
  const cache = await openCache(store, { onError: (error) => void errors.push(error) });
  await postgres.server.query(name, `UPDATE rockpool.rockpool_member SET written_at = '2020-01-01'`);
  await writeUnseen('viewer');
  const { readRecent } = store;
  store.readRecent = () => Promise.reject(new Error('PostgreSQL is unavailable'));
  cache.follow();
  await until(() => errors.length === 1);
  store.readRecent = readRecent;
  cache.follow();
  await until(() => cache.roleOf(DATABASE, 'zoe') !== 'owner');
  expect([...cache.rolesIn(DATABASE)]).toEqual([['zoe', 'viewer']]);
});

it('compares all roles periodically', async () => {
  await elsewhere.write({ ...ZOE, role: 'owner' });
  const cache = await openCache(openMembers(), { pollIntervalMs: 10, checkIntervalMs: 100 });
  await postgres.server.query(name, `UPDATE rockpool.rockpool_member SET written_at = '2020-01-01'`);
  await writeUnseen('viewer');
  await until(() => cache.roleOf(DATABASE, 'zoe') !== 'owner');
  expect([...cache.rolesIn(DATABASE)]).toEqual([['zoe', 'viewer']]);
});

it.each(['readPage', 'readRecent'] as const)(
  'keeps a role that this instance stores while an older %s is under way',
  async (method) => {
    await elsewhere.write({ ...ZOE, role: 'owner' });
    const store = openMembers();
    const announcedRoles: unknown[] = [];
    const cache = await openCache(store, {
      pollIntervalMs: 10,
      checkIntervalMs: 10,
      onChanged: () => void announcedRoles.push(cache.roleOf(DATABASE, 'zoe')),
    });
    const held = holdBack(store, method);
    await held.answered;
    await store.write({ ...ZOE, role: null });
    cache.set({ ...ZOE, role: null });
    held.release();
    // The next read of the same kind begins after the older one was applied.
    const next = holdBack(store, method);
    await next.answered;
    next.release();
    expect(cache.roleOf(DATABASE, 'zoe')).toBe(null);
    expect(announcedRoles).not.toContain('owner');
  },
);

it('keeps a role that this instance stores while all roles are being loaded', async () => {
  await elsewhere.write({ ...ZOE, role: 'owner' });
  const store = openMembers();
  const held = holdBack(store, 'readAll');
  const cache = beginCache(store);
  await held.answered;
  await store.write({ ...ZOE, role: null });
  cache.set({ ...ZOE, role: null });
  held.release();
  await cache.loading;
  expect(cache.roleOf(DATABASE, 'zoe')).toBe(null);
});

it('keeps a role that this instance stores while the members of an announced database are read', async () => {
  await elsewhere.write({ ...ZOE, role: 'owner' });
  await elsewhere.write({ ...ZOE, principal: 'ann', role: 'owner' });
  const store = openMembers();
  const cache = await openCache(store);
  const held = holdBack(store, 'readDatabase');
  await postgres.server.query(name, `DELETE FROM rockpool.rockpool_member WHERE principal = 'ann'`);
  cache.follow(DATABASE);
  await held.answered;
  await store.write({ ...ZOE, role: null });
  cache.set({ ...ZOE, role: null });
  held.release();
  await until(() => cache.roleOf(DATABASE, 'ann') === undefined);
  expect(cache.roleOf(DATABASE, 'zoe')).toBe(null);
});

it('looks up a principal without a role before it is refused, because another instance may have just added it', async () => {
  const store = openMembers();
  const [onChanged, onError] = [() => undefined, () => undefined];
  const members = new Members({ store, bus: null, onChanged, onError, now: Date.now });
  onTestFinished(() => members.close());
  const allowed = async (principal: string): Promise<boolean> =>
    members.allows({ id: principal, expiresAtMs: Infinity }, DATABASE, 'read');
  expect(await allowed('zoe')).toBe(false);
  await elsewhere.write({ ...ZOE, role: 'viewer' });
  await elsewhere.write({ ...ZOE, principal: 'ann', role: null });
  expect(await Promise.all(['zoe', 'ann', 'eve'].map(allowed))).toEqual([true, false, false]);
  store.readMembers = () => Promise.reject(new Error('PostgreSQL is unavailable'));
  expect(await allowed('zoe')).toBe(true);
  await expect(allowed('eve')).rejects.toMatchObject({ code: 'auth-unavailable' });
});

it.each([
  ['revoked in the database', { ...ZOE, role: null }, { ...ZOE, role: 'viewer' as const }],
  ['revoked everywhere', revokedEverywhere('zoe'), readmitted('zoe')],
])(
  'looks up a principal who is %s before it is refused, once for requests at the same time',
  async (_, revoked, granted) => {
    await elsewhere.write(revoked);
    await elsewhere.write({ ...revoked, principal: 'ann' });
    const store = openMembers();
    const [onChanged, onError] = [() => undefined, () => undefined];
    const members = new Members({ store, bus: null, onChanged, onError, now: Date.now });
    onTestFinished(() => members.close());
    const allowed = async (principal: string): Promise<boolean> =>
      members.allows({ id: principal, databases: [DATABASE], expiresAtMs: Infinity }, DATABASE, 'read');
    expect(await allowed('zoe')).toBe(false);
    await elsewhere.write(granted);
    expect(await allowed('zoe')).toBe(true);
    const { readMembers } = store;
    const reads: number[] = [];
    store.readMembers = (sought) => {
      reads.push(sought.length);
      return readMembers.call(store, sought);
    };
    const requests = Array.from({ length: 100 }, () => 'ann');
    expect(await Promise.all(requests.map(allowed))).toEqual(requests.map(() => false));
    expect(reads).toEqual([2]);
    // After the lookup, this instance needs no further read.
    store.readMembers = () => Promise.reject(new Error('PostgreSQL is unavailable'));
    expect(await allowed('ann')).toBe(false);
  },
);

it('gives up a look-up without an answer, and the next one finds the role', async () => {
  const store = openMembers();
  const cache = await openCache(store, { pollDeadlineMs: 100 });
  store.readMembers = () => new Promise(() => undefined);
  await expect(cache.lookUp(DATABASE, 'zoe')).rejects.toMatchObject({ code: 'auth-unavailable' });
  // PostgreSQL could need longer than the deadline on a busy machine.
  store.readMembers = () => Promise.resolve([{ ...ZOE, role: 'viewer' }]);
  await cache.lookUp(DATABASE, 'zoe');
  expect(cache.roleOf(DATABASE, 'zoe')).toBe('viewer');
});

it('gives up a comparison without an answer, and compares all roles again', async () => {
  await elsewhere.write({ ...ZOE, role: 'owner' });
  const store = openMembers();
  const { readPage } = store;
  const errors: unknown[] = [];
  store.readPage = () => new Promise(() => undefined);
  const cache = await openCache(store, {
    ...{ pollIntervalMs: 10, checkIntervalMs: 100, pollDeadlineMs: 500 },
    onError: (error) => void errors.push(error),
  });
  await postgres.server.query(name, `UPDATE rockpool.rockpool_member SET written_at = '2020-01-01'`);
  await writeUnseen('viewer');
  await until(() => errors.length > 0);
  store.readPage = readPage;
  await until(() => cache.roleOf(DATABASE, 'zoe') !== 'owner');
  expect([...cache.rolesIn(DATABASE)]).toEqual([['zoe', 'viewer']]);
});

it('finds a revocation while a connection is silent', async () => {
  const link = await SlowLink.open(postgres.server.port, 0, postgres.server.host);
  await elsewhere.write({ ...ZOE, role: 'owner' });
  const store = openMembers(link.port, 2 ** 30);
  onTestFinished(() => link.close());
  const cache = await openCache(store, { pollIntervalMs: 100, pollDeadlineMs: 500 });
  expect(cache.roleOf(DATABASE, 'zoe')).toBe('owner');
  link.fallSilent();
  await elsewhere.write({ ...ZOE, role: null });
  await until(() => cache.roleOf(DATABASE, 'zoe') === null);
});
