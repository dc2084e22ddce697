import { randomBytes } from 'node:crypto';
import { copyFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Delivery, Hello, Welcome } from '@rockpool/shared';
import { insert, remove, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { cells, deliveredRows } from '../../testing/delivered-rows.ts';
import { databasePath } from '../store/data-directory.ts';

const tested = serverUnderTest();

async function hello(
  site: TestSite,
  changes: Partial<Hello> = {},
): Promise<{ connection: TestConnection; welcome: Welcome; first: Delivery }> {
  const connection = await tested.server.connect(site);
  connection.hello(await tested.server.token(), DATABASE, changes);
  const welcome = await connection.next('welcome');
  site.logEpoch = welcome.logEpoch;
  return { connection, welcome, first: await connection.delivery() };
}

/** A disconnected site with two decided changesets, the first one confirmed. */
async function known(): Promise<TestSite> {
  const a = await tested.server.open();
  for (const key of ['x', 'y']) await a.commit([insert('accounts', key, { name: key })]);
  a.send({ type: 'confirm', cursor: 1, lastAckedSequence: 1 });
  await a.roundTrip();
  await a.close();
  await tested.restart();
  return a.site;
}

const filePath = (): string => databasePath(tested.server.dataDir, DATABASE);

/** Restores the server's file to its current state after `lost` has run. */
async function restoredAfter(lost: () => Promise<void>): Promise<void> {
  await tested.restart();
  const backup = `${filePath()}.backup`;
  tested.server.query('PRAGMA wal_checkpoint(TRUNCATE)');
  copyFileSync(filePath(), backup);
  await lost();
  const path = filePath();
  await tested.server.stop();
  copyFileSync(backup, path);
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  await tested.restart();
}

describe('a hello with a different log epoch', () => {
  it('receives a full resync and the outcomes that the site lacks', async () => {
    const site = await known();
    const gone = await tested.server.open();
    await gone.commit([remove('accounts', 'x')]);
    const { welcome, first } = await hello(site, { logEpoch: randomBytes(16), cursor: 70, lastAckedSequence: 1 });
    expect(welcome).toMatchObject({
      fullResync: true,
      watermark: 3,
      lastAckedSequence: 2,
      decidedHash: site.hashes[2],
    });
    expect(first).toMatchObject({
      whole: true,
      from: 0,
      to: 3,
      lastAckedSequence: 2,
      outcomes: [{ kind: 'admitted', sequence: 2 }],
    });
    expect(deliveredRows(first, 'accounts')).toMatchObject([{ kind: 'insert', key: ['y'] }]);
    // The hello proves nothing about this log, so other sessions stay.
    await gone.roundTrip();
    expect(gone.closed).toBeNull();
  });

  it('continues like any other session', async () => {
    const site = await known();
    const { connection } = await hello(site, { logEpoch: randomBytes(16) });
    expect(await connection.commit([update('accounts', 'x', { name: 'z' })])).toMatchObject({
      kind: 'admitted',
      watermark: 3,
    });
  });
});

describe('a hello that claims to be ahead of the log', () => {
  it.each<[string, Partial<Hello>]>([
    ['by its cursor', { cursor: 3 }],
    ['by another log hash', { cursor: 2, cursorHash: randomBytes(16) }],
    ['by what is decided', { lastAckedSequence: 3, lastSequence: 3 }],
  ])('costs only its own client a full resync: %s', async (_, changes) => {
    const site = await known();
    const epoch = site.logEpoch;
    const other = await tested.server.open();
    for (let repeat = 0; repeat < 8; repeat++) {
      site.logEpoch = epoch;
      const { connection, welcome, first } = await hello(site, changes);
      expect(welcome).toMatchObject({ fullResync: true, watermark: 2 });
      // Under a different log epoch, the client's watermarks count as unseen and claim nothing about this log.
      expect(welcome.logEpoch).not.toEqual(epoch);
      expect(first).toMatchObject({ whole: true, from: 0, to: 2 });
      await connection.close();
    }
    expect(tested.server.query(`SELECT value FROM rockpool_meta WHERE name = 'epoch_start'`)).toEqual([]);
    expect(await other.commit([insert('accounts', 'z', { name: 'z' })])).toMatchObject({ kind: 'admitted' });
    await other.close();
    expect((await hello(other.site)).welcome).toMatchObject({ fullResync: false, logEpoch: epoch });
    // That client fetches everything again, and then continues like any other.
    await hello(site, { ...changes, lastAckedSequence: 2, lastSequence: 2 });
    expect(site.logEpoch).toEqual(epoch);
    expect((await hello(site)).welcome).toMatchObject({ fullResync: false });
  });

  it('leaves the client its pending changes, which are concurrent with everything that the log lacked', async () => {
    const site = await known();
    const ben = await tested.server.open();
    await ben.commit([update('accounts', 'x', { name: 'ben' })]);
    const { connection } = await hello(site, { cursor: 9 });
    site.write([update('accounts', 'x', { name: 'ann' })], { base: 9, ageMs: 60_000 });
    connection.push(3, 3, 3);
    expect((await connection.decided(3)).outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
    expect(tested.server.query(`SELECT name FROM accounts WHERE id = 'x'`)).toEqual([['ben']]);
  });

  it('costs other clients nothing if the client only reads', async () => {
    const site = await known();
    const other = await tested.server.open();
    const connection = await tested.server.connect(site);
    connection.hello(await tested.server.token('viewer'), DATABASE, { cursor: 3 });
    expect(await connection.next('welcome')).toMatchObject({ fullResync: true });
    expect(await connection.delivery()).toMatchObject({ whole: true, to: 2 });
    await other.roundTrip();
    expect(other.closed).toBeNull();
  });
});

describe('a server whose file was replaced by an older copy', () => {
  it('receives the changesets that a client still has, and caps their bases at the end of the log', async () => {
    const a = await tested.server.open();
    const b = await tested.server.open();
    await a.commit([insert('products', 'p', { stock: 10n, name: 'first' })], { ageMs: 7_200_000 });
    await b.delivery();
    await restoredAfter(async () => {
      const again = await tested.server.open(a.site);
      await again.commit([update('products', 'p', { stock: 1n })], { ageMs: 3_600_000 });
      await again.commit([update('products', 'p', { stock: 2n })], { ageMs: 3_600_000 });
    });
    // Watermark 2 now names a different changeset.
    const bens = await tested.server.open(b.site);
    await bens.commit([update('products', 'p', { name: 'ben' })]);
    const { site } = a;
    site.write([update('products', 'p', { name: 'ann' })], { ageMs: 60_000 }); // its base is 3, from the old log epoch
    const { connection, welcome, first } = await hello(site);
    expect(welcome).toMatchObject({ fullResync: true, watermark: 2, lastAckedSequence: 1 });
    expect(first).toMatchObject({ whole: true, lastAckedSequence: 1, outcomes: [] });
    expect(deliveredRows(first, 'products')[0]?.cells).toEqual(
      new Map([...cells({ stock: 10n, price: null, currency: null, name: 'ben' })]),
    );
    connection.push(2, 4, 4);
    const { outcomes } = await connection.decided(4);
    expect(outcomes).toMatchObject([{ kind: 'admitted' }, { kind: 'admitted' }, { kind: 'admitted' }]);
    expect(tested.server.query('SELECT stock FROM products')).toEqual([[13n]]);
    // Ann has not seen what Ben wrote between the restore and its detection, even though its watermark is low.
    expect(
      tested.server.query(
        `SELECT lost_value, won_value FROM rockpool_conflict WHERE column_name = 'name' ORDER BY id DESC LIMIT 1`,
      ),
    ).toEqual([['ann', 'ben']]);
  });

  it('is detected by a reader even if the log has grown past the reader’s cursor', async () => {
    const a = await tested.server.open();
    const writer = await tested.server.open();
    await writer.commit([insert('accounts', 'x', { name: 'x' })]);
    await a.delivery();
    await restoredAfter(async () => {
      const reader = await tested.server.open(a.site);
      const again = await tested.server.open(writer.site);
      await again.commit([update('accounts', 'x', { rank: 1n })]);
      await reader.delivery();
    });
    const other = await tested.server.open();
    for (const name of ['y', 'z']) await other.commit([insert('accounts', name, { name })]);
    const { welcome, first } = await hello(a.site);
    expect(welcome).toMatchObject({ fullResync: true, watermark: 3 });
    expect(first).toMatchObject({ whole: true, to: 3 });
    expect(await other.failure()).toMatchObject({ code: 'epoch-changed' });
    expect(tested.server.query(`SELECT value FROM rockpool_meta WHERE name = 'epoch_start'`)).toEqual([['1']]);
  });

  it('begins a new log epoch, durably, for a client that is ahead, even a read-only one', async () => {
    const reader = new TestSite();
    const writer = await tested.server.open();
    await restoredAfter(async () => {
      const again = await tested.server.open(writer.site);
      await again.commit([insert('accounts', 'x', { name: 'x' })]);
      await (await tested.server.open(reader, { principal: 'rita', role: 'viewer' })).close();
    });
    const other = await tested.server.open();
    const oldEpoch = reader.logEpoch;
    const back = await tested.server.connect(reader);
    back.hello(await tested.server.token('viewer', 'rita'), DATABASE);
    const { logEpoch, fullResync } = await back.next('welcome');
    expect(fullResync).toBe(true);
    expect(logEpoch).not.toEqual(oldEpoch);
    expect(await other.failure()).toMatchObject({ code: 'epoch-changed' });
    const again = await hello(other.site);
    expect(again.welcome).toMatchObject({ fullResync: true, logEpoch });
    expect(again.first.whole).toBe(true);
    await again.connection.close();
    await tested.restart();
    expect((await hello(other.site)).welcome).toMatchObject({ fullResync: false, logEpoch });
    // Hashes of the old log epoch prove nothing about the new one.
    const replayed = await hello(reader, { logEpoch });
    expect(replayed.welcome.logEpoch).not.toEqual(logEpoch);
    expect((await hello(other.site)).welcome).toMatchObject({ fullResync: false, logEpoch });
  });

  it('treats entries above the start of the log epoch as unseen by changesets of an older log epoch', async () => {
    const site = await known();
    await restoredAfter(async () => {
      const again = await tested.server.open(site);
      await again.commit([update('accounts', 'x', { rank: 1n })]);
    });
    const b = await tested.server.open();
    const { connection } = await hello(site);
    expect(await b.failure()).toMatchObject({ code: 'epoch-changed' });
    const bens = (await hello(b.site)).connection;
    await bens.commit([update('accounts', 'x', { name: 'ben' })]);
    await connection.delivery();
    site.write([update('accounts', 'x', { name: 'ann' })], { base: 9, ageMs: 60_000 });
    connection.push(3, 4, 4);
    expect((await connection.decided(4)).outcomes.at(-1)).toMatchObject({ kind: 'admitted', conflictCount: 1 });
    expect(tested.server.query(`SELECT name FROM accounts WHERE id = 'x'`)).toEqual([['ben']]);
    site.write([update('accounts', 'x', { name: 'ann' })], { base: 9 });
    connection.push(5, 5, 4);
    expect(await connection.failure()).toMatchObject({ code: 'cursor-ahead' });
  });
});

describe('a hello from a copied file', () => {
  it('receives the site’s last acknowledged sequence, and no outcome that was confirmed', async () => {
    const site = await known();
    const copy = new TestSite();
    Object.assign(copy, { siteId: site.siteId, logEpoch: site.logEpoch });
    const { welcome, first } = await hello(copy);
    expect(welcome).toMatchObject({ fullResync: false, lastAckedSequence: 2, decidedHash: site.hashes[2] });
    expect(first.outcomes.map(({ sequence }) => sequence)).toEqual([2]);
  });
});
