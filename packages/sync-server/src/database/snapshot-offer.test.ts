import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Delivery, Hello, SnapshotPosition, Welcome } from '@rockpool/shared';
import { insert, remove } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';

const tested = serverUnderTest({ snapshots: { minFileBytes: 1 } });

async function welcomed(
  snapshot: Hello['snapshot'],
  site: TestSite = new TestSite(),
  changes: Partial<Hello> = {},
): Promise<{ connection: TestConnection; welcome: Welcome }> {
  const connection = await tested.server.connect(site);
  connection.hello(await tested.server.token(), DATABASE, { snapshot, ...changes });
  return { connection, welcome: await connection.next('welcome') };
}

/** The snapshot position at the current end of the log. */
async function positionNow(writer: TestConnection): Promise<SnapshotPosition> {
  const { site } = writer;
  return {
    logEpoch: site.logEpoch as Uint8Array,
    watermark: site.cursor,
    logHash: site.logHashes.get(site.cursor) as Uint8Array,
  };
}

it('the server offers a snapshot, and sends nothing else, to a client that accepts one and needs the full state', async () => {
  // An empty log has no rows to put into a snapshot.
  const writer = await tested.server.open();
  expect((await welcomed('accepted')).welcome).toMatchObject({ takeSnapshot: false });
  await writer.commit([insert('accounts', 'a', { name: 'Cash' })]);
  const { connection, welcome } = await welcomed('accepted');
  expect(welcome).toMatchObject({ takeSnapshot: true });
  await connection.roundTrip();
  await writer.commit([insert('accounts', 'b', { name: 'Bank' })]);
  await connection.roundTrip();
  expect(connection.inbox).toEqual([]);
  expect((await welcomed('accepted', writer.site)).welcome).toMatchObject({ takeSnapshot: false, fullResync: false });
  expect((await welcomed('accepted', writer.site, { fullResync: true })).welcome).toMatchObject({ takeSnapshot: true });
  const refusing = await welcomed('refused');
  expect(refusing.welcome).toMatchObject({ takeSnapshot: false });
  expect(await refusing.connection.delivery()).toMatchObject({ whole: false, from: 0, to: 2 });
});

it('the server continues from the snapshot that a client holds: later rows, later deletes and the client’s outcomes', async () => {
  const writer = await tested.server.open();
  await writer.commit([insert('accounts', 'a', { name: 'Cash' }), insert('accounts', 'gone', { name: 'gone' })]);
  const held = await positionNow(writer);
  await writer.commit([remove('accounts', 'gone'), insert('accounts', 'b', { name: 'Bank' })]);
  const { connection, welcome } = await welcomed(held);
  expect(welcome).toMatchObject({ takeSnapshot: false, fullResync: true });
  const first: Delivery = await connection.delivery();
  expect(first).toMatchObject({ whole: true, from: 1, to: 2 });
  expect(first.groups.map(({ kind, keys }) => [kind, keys])).toEqual(
    expect.arrayContaining([
      ['delete', [['gone']]],
      ['insert', [['b']]],
    ]),
  );
  // A client that has written receives its own writes again, because the snapshot is older than they are.
  const mine = await welcomed(held, writer.site, {
    fullResync: true,
    lastAckedSequence: 1,
    decidedHash: writer.site.hashes[1] as Uint8Array,
  });
  expect(await mine.connection.delivery()).toMatchObject({
    whole: true,
    from: 1,
    to: 2,
    lastAckedSequence: 2,
    outcomes: [{ sequence: 2, kind: 'admitted' }],
  });
});

it('the server offers a snapshot again to a client that holds a snapshot of a different log', async () => {
  const writer = await tested.server.open();
  await writer.commit([insert('accounts', 'a', { name: 'Cash' })]);
  const held = await positionNow(writer);
  const others: SnapshotPosition[] = [
    { ...held, logEpoch: randomBytes(16) },
    { ...held, logHash: randomBytes(16) },
    { ...held, watermark: 2 },
  ];
  for (const other of others) expect((await welcomed(other)).welcome).toMatchObject({ takeSnapshot: true });
});
