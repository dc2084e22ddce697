import { describe, expect, inject, it } from 'vitest';
import { insert, remove } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE, TEST_SECRET } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { createSyncServer } from '../create-sync-server.ts';
import { QUOTAS, requireRoomForSite, roomToGrow, UNLIMITED_ROOM } from './quotas.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { toChangeset, withAges } from '../../testing/changeset.ts';

const LIMIT = 600_000;
const big = 'x'.repeat(200_000);

describe('the quota of a database', () => {
  const tested = serverUnderTest({ quotas: { maxDatabaseBytes: LIMIT } });

  it('stops the growth of the database, admits deletes, and does not affect other databases', async () => {
    const writer = await tested.server.open();
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) await writer.commit([insert('accounts', `k${i}`, { name: `${i}${big}` })]);
    };
    await expect(fill()).rejects.toThrow('quota-exceeded');
    const metrics = await (await tested.server.ask('GET', '/metrics')).text();
    expect(metrics).toContain('rockpool_quota_refusals_total{quota="database-bytes"} 1\n');
    expect(writer.site.lastAckedSequence).toBeGreaterThan(0);
    const other = await tested.server.open(undefined, { databaseId: 'elsewhere' });
    expect(await other.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
    const cleaner = await tested.server.open(undefined, { principal: 'ben' });
    expect(await cleaner.commit([remove('accounts', 'k0')])).toMatchObject({ kind: 'admitted' });
    expect(tested.server.query(`SELECT count(*) FROM accounts WHERE id = 'k0'`, DATABASE)).toEqual([[0n]]);
  });
});

describe('the quota of a database, if a delete follows an insert in the queue', () => {
  const tested = serverUnderTest({ quotas: { maxDatabaseBytes: LIMIT } });

  it('admits the insert and the delete, and refuses later pushes', async () => {
    const writer = await tested.server.open();
    for (let i = 0; i < 3; i++)
      await writer.commit([insert('accounts', `k${i}`, { name: `${i}${big}` })]).catch(() => undefined);
    const again = await tested.server.open(undefined, { principal: 'ben' });
    again.site.write([insert('accounts', 'small', { name: 'small' })]);
    again.site.write([remove('accounts', 'k0')]);
    again.site.write([insert('accounts', 'late', { name: 'late' })]);
    again.push();
    await again.decided(2);
    expect(await again.failure()).toMatchObject({ code: 'quota-exceeded' });
    expect(tested.server.query(`SELECT id FROM accounts WHERE id IN ('small', 'k0', 'late')`)).toEqual([['small']]);
  });
});

it('the quota of a tenant is refused with PostgreSQL, where the server does not measure databases', () => {
  const options = {
    dataDir: temporaryFolder(),
    schema: TEST_SCHEMA,
    secret: new TextEncoder().encode(TEST_SECRET),
    postgres: 'postgresql://nowhere/none',
  };
  expect(() => createSyncServer({ ...options, quotas: { maxTenantBytes: 1 } })).toThrow('quotas.maxTenantBytes');
});

describe.skipIf(inject('postgresUrl') !== undefined)('the quota of a tenant', () => {
  const tested = serverUnderTest({
    // Database threads learn only from the next measurement that a tenant is full, so the test runs without them.
    threads: 1,
    quotas: { maxTenantBytes: 1 },
    tenantOf: (databaseId) => databaseId.split('-', 1)[0] as string,
  });

  it('counts all databases of the tenant', async () => {
    const connection = await tested.server.open(undefined, { databaseId: 'acme-1' });
    connection.site.write([insert('accounts', 'x', { name: 'x' })]);
    connection.push();
    expect(await connection.failure()).toMatchObject({
      code: 'quota-exceeded',
      fields: { quota: 'tenant-bytes', limit: 1 },
    });
  });
});

describe.skipIf(inject('postgresUrl') !== undefined).each<[string, () => unknown]>([
  ['returns undefined', () => undefined],
  ['rejects', () => Promise.reject(new Error('a private detail'))],
  [
    'throws',
    () => {
      throw new Error('a private detail');
    },
  ],
])('a host whose tenantOf %s', (_how, answer) => {
  let isBroken = true;
  const tested = serverUnderTest({
    threads: 1,
    quotas: { maxTenantBytes: 1_000_000_000 },
    tenantOf: (databaseId) => (isBroken ? (answer() as string) : databaseId),
  });

  it('is logged, and a push that the quota would limit is refused until the tenant is known', async () => {
    const connection = await tested.server.open();
    connection.site.write([insert('accounts', 'x', { name: 'x' })]);
    // More often than a changeset may fail through its own fault.
    for (let i = 0; i < 4; i++) {
      const again = await tested.server.open(connection.site);
      again.push();
      expect(await again.failure()).toMatchObject({ code: 'database-unavailable' });
    }
    expect(tested.server.events.some(({ event }) => event === 'tenant-error')).toBe(true);
    expect(JSON.stringify(tested.server.events)).not.toContain('private');
    isBroken = false;
    const last = await tested.server.open(connection.site);
    last.push();
    expect((await last.decided(1)).outcomes).toMatchObject([{ kind: 'admitted' }]);
  });
});

describe('a full disk', () => {
  const push = (...changes: ReturnType<typeof insert>[]): ReturnType<typeof withAges> =>
    withAges(
      changes.map((change, i) => toChangeset(i + 1, 5 + i, 0, [change])),
      1000,
    );
  const small = insert('accounts', 'x', { name: 'x' });
  const large = insert('accounts', 'y', { name: 'x'.repeat(2 * 1024 * 1024) });
  const gone = remove('accounts', 'z');

  it.each([
    ['refuses an insert', push(small), 0],
    ['admits a delete', push(gone), 1],
    ['admits an insert that a delete waits behind', push(small, gone, small), 2],
    ['refuses a large insert that a delete waits behind', push(large, gone), 0],
  ])('%s', (_, changesets, admitted) => {
    const file = openDatabaseFile(':memory:', TEST_SCHEMA);
    try {
      const full = { ...UNLIMITED_ROOM, isDiskFull: () => true };
      expect(roomToGrow(file, changesets, QUOTAS, full)).toMatchObject({
        admitted,
        refusal: admitted === changesets.length ? null : { code: 'server-disk-full' },
      });
      expect(roomToGrow(file, changesets, QUOTAS, UNLIMITED_ROOM).admitted).toBe(changesets.length);
      const empty = { ...full, takeReserve: () => false };
      if (changesets.length === 3) expect(roomToGrow(file, changesets, QUOTAS, empty).admitted).toBe(0);
    } finally {
      file.sql.close();
    }
  });
});

it('the default quota of sites admits 1,000 sites of one principal, and does not limit other principals', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  let number = 0;
  const begin = (principal: string): void => {
    file.sites.create((++number).toString(16).padStart(32, '0'), principal);
    requireRoomForSite(file, principal, QUOTAS);
  };
  for (let i = 0; i < 1_000; i++) begin('eve');
  for (let i = 0; i < 200; i++)
    expect(() => begin('eve')).toThrow(expect.objectContaining({ code: 'quota-exceeded' }) as Error);
  begin('ben');
  file.sql.close();
});
