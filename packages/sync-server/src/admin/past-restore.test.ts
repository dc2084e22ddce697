import { buildSchema } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { ADMIN_TOKEN, askAdmin } from '../../testing/admin-client.ts';
import { insert, remove, update } from '../../testing/changeset.ts';
import { deliveredRows } from '../../testing/delivered-rows.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TEST_TABLES } from '../../testing/test-schema.ts';
import { DATABASE } from '../../testing/test-server.ts';

const MINUTE_MS = 60_000;

let aheadMs = 0;
const tested = serverUnderTest({
  admin: { token: ADMIN_TOKEN },
  schema: buildSchema(TEST_TABLES.map((table) => ({ ...table, history: { retainedDays: null } }))),
  now: () => Date.now() + aheadMs,
});

it('an operator restores a past state of a database under a different id while devices use the database', async () => {
  const { server } = tested;
  aheadMs = 0;
  const ann = await server.open();
  await ann.commit([insert('accounts', 'kept', { name: 'before' }), insert('accounts', 'lost', { name: 'lost' })]);
  aheadMs = MINUTE_MS;
  const atMs = Date.now() + aheadMs;
  aheadMs = 2 * MINUTE_MS;
  await ann.commit([update('accounts', 'kept', { name: 'after' }), remove('accounts', 'lost')]);
  const restored = await askAdmin(server, 'POST', `/databases/past/restore?from=${DATABASE}&at=${atMs}`);
  expect(restored).toMatchObject({ status: 201, body: { watermark: 1 } });
  const device = await server.connect();
  const { first } = await device.open(await server.token('viewer', 'ben', 'past'), 'past');
  expect(deliveredRows(first, 'accounts').map(({ key }) => key[0])).toEqual(['kept', 'lost']);
  expect(await ann.commit([insert('accounts', 'more', { name: 'more' })])).toMatchObject({ kind: 'admitted' });
  const again = await askAdmin(server, 'POST', `/databases/past/restore?from=${DATABASE}&at=${atMs}`);
  expect(again).toMatchObject({ status: 409 });
  const missing = await askAdmin(server, 'POST', `/databases/other/restore?from=nowhere&at=${atMs}`);
  expect(missing).toMatchObject({ status: 404, body: { code: 'storage-missing' } });
});
