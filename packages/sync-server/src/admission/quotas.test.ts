import { describe, expect, it } from 'vitest';
import { insert, remove } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { QUOTAS, requireRoomToGrow, UNLIMITED_ROOM } from './quotas.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { toChangeset, withAges } from '../../testing/changeset.ts';

const LIMIT = 600_000;
const big = 'x'.repeat(200_000);

describe('the quota of a database', () => {
  const tested = serverUnderTest({ quotas: { maxDatabaseBytes: LIMIT } });

  it('refuses to let it grow, admits deletes, and leaves other databases alone', async () => {
    const writer = await tested.server.open();
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) await writer.commit([insert('accounts', `k${i}`, { name: `${i}${big}` })]);
    };
    await expect(fill()).rejects.toThrow('quota-exceeded');
    expect(writer.site.lastAckedSequence).toBeGreaterThan(0);
    const other = await tested.server.open(undefined, { databaseId: 'elsewhere' });
    expect(await other.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
    const cleaner = await tested.server.open(undefined, { principal: 'ben' });
    expect(await cleaner.commit([remove('accounts', 'k0')])).toMatchObject({ kind: 'admitted' });
    expect(tested.server.query(`SELECT count(*) FROM accounts WHERE id = 'k0'`, DATABASE)).toEqual([[0n]]);
  });
});

describe('the quota of a tenant', () => {
  const tested = serverUnderTest({
    // Threads learn about the size of a tenant when it is measured.
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

it('keeps the reserve of a full disk for deletes', () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const full = { ...UNLIMITED_ROOM, isDiskFull: () => true };
  const push = (change: ReturnType<typeof insert>): ReturnType<typeof withAges> =>
    withAges([toChangeset(1, 5, 0, [change])], 1000);
  try {
    expect(() => requireRoomToGrow(file, push(insert('accounts', 'x', { name: 'x' })), QUOTAS, full)).toThrow('disk');
    requireRoomToGrow(file, push(remove('accounts', 'x')), QUOTAS, full);
    requireRoomToGrow(file, push(insert('accounts', 'x', { name: 'x' })), QUOTAS, UNLIMITED_ROOM);
  } finally {
    file.sql.close();
  }
});
