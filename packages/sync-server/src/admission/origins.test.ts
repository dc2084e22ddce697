import {
  columnIdOf,
  decodeServerMessage,
  encodeMessage,
  type Changeset,
  type ChangesetOrigin,
  type Outcome,
} from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { deliveredRows } from '../../testing/delivered-rows.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';

const DAY_MS = 24 * 3600 * 1000;
let nowMs = Date.now();
const tested = serverUnderTest({ now: () => nowMs });

const product = insert('products', 'p', { stock: 10n, name: 'tea' });
const sale = update('products', 'p', { stock: -3n });

/** Commits a changeset that was re-created from another one, and pushes it. */
async function recreate(
  connection: TestConnection,
  origin: ChangesetOrigin,
  changes: readonly Change[] = [sale],
): Promise<Outcome> {
  const changeset = connection.site.write(changes);
  connection.site.changelog[changeset.sequence - 1] = { ...changeset, origin };
  connection.push(changeset.sequence);
  return (await connection.decided(changeset.sequence)).outcomes.at(-1) as Outcome;
}

function originOf({ siteId, hashes }: TestSite, { sequence }: Pick<Changeset, 'sequence'>): ChangesetOrigin {
  return { siteId, sequence, hash: hashes[sequence] as Uint8Array };
}

async function opened(): Promise<TestConnection[]> {
  nowMs = Date.now();
  const [first, ...others] = [await tested.server.open(), await tested.server.open(), await tested.server.open()];
  await first.commit([product]);
  for (const other of others) await other.delivery();
  return [first, ...others];
}

const stock = (): unknown => tested.server.query(`SELECT stock FROM products WHERE id = 'p'`).flat()[0];
const logged = (): unknown => tested.server.query('SELECT count(*) FROM rockpool_log').flat()[0];

describe('a re-created changeset', () => {
  it('counts once when its origin was admitted', async () => {
    const [a, b] = (await opened()) as [TestConnection, TestConnection];
    await a.commit([sale]);
    await b.delivery();
    expect(await recreate(b, originOf(a.site, { sequence: 2 }))).toEqual({
      kind: 'admitted',
      sequence: 1,
      watermark: 3,
      conflictCount: 0,
    });
    expect(stock()).toBe(7n);
  });

  it('counts once when its origin is pushed later [MR-49]', async () => {
    const [a, b] = (await opened()) as [TestConnection, TestConnection];
    const written = a.site.write([sale]);
    expect(await recreate(b, originOf(a.site, written))).toMatchObject({ kind: 'admitted' });
    a.push(2);
    expect((await a.decided(2)).outcomes).toMatchObject([{ kind: 'admitted', sequence: 2, watermark: 3 }]);
    expect(stock()).toBe(7n);
  });

  it('counts once when two sites re-create it [MR-49]', async () => {
    const [a, b, c] = (await opened()) as [TestConnection, TestConnection, TestConnection];
    const origin = originOf(a.site, a.site.write([sale]));
    await recreate(b, origin);
    await c.delivery();
    expect(await recreate(c, origin)).toMatchObject({ kind: 'admitted' });
    expect(stock()).toBe(7n);
  });

  it('counts once across a restart of the server', async () => {
    const [a, b, c] = (await opened()) as [TestConnection, TestConnection, TestConnection];
    const origin = originOf(a.site, a.site.write([sale]));
    await recreate(b, origin);
    await tested.restart();
    await recreate(await tested.server.open(c.site), origin);
    expect(stock()).toBe(7n);
  });

  it('delivers the current value of every cell to the changeset’s author, who has applied the changeset twice', async () => {
    const [a, b] = (await opened()) as [TestConnection, TestConnection];
    await a.commit([sale, insert('products', 'q', { stock: 1n, name: 'rye' })]);
    await a.commit([update('products', 'q', { name: 'rye bread' })]);
    await b.delivery();
    await b.delivery();
    const changes = [sale, insert('products', 'q', { stock: 1n, name: 'rye' }), remove('products', 'r')];
    const changeset = b.site.write(changes);
    b.site.changelog[0] = { ...changeset, origin: originOf(a.site, { sequence: 2 }) };
    b.push();
    const delivery = await b.decided(1);
    const delivered = deliveredRows(delivery, 'products').map(({ kind, key, cells }) => [
      kind,
      ...key,
      cells.get(columnIdOf('stock')),
      cells.get(columnIdOf('name')),
    ]);
    expect(delivered).toEqual([
      ['insert', 'p', 7n, 'tea'],
      ['insert', 'q', 1n, 'rye bread'],
      ['delete', 'r', undefined, undefined],
    ]);
    expect(tested.server.query('SELECT count(*) FROM rockpool_conflict')).toEqual([[0n]]);
  });

  it('takes effect once if its origin was rejected [MR-49]', async () => {
    const [a, b, c] = (await opened()) as [TestConnection, TestConnection, TestConnection];
    const taken = insert('accounts', 'x', {});
    expect(await a.commit([sale, taken])).toMatchObject({ kind: 'rejected' });
    const origin = originOf(a.site, { sequence: 2 });
    expect(await recreate(b, origin, [sale, taken])).toMatchObject({ kind: 'rejected' });
    expect(await recreate(b, origin)).toMatchObject({ kind: 'admitted' });
    expect(stock()).toBe(7n);
    await c.delivery();
    await recreate(c, origin);
    expect(stock()).toBe(7n);
  });

  it('counts in addition to a changeset from a copy with the same site and sequence but a different hash', async () => {
    const [a, b] = (await opened()) as [TestConnection, TestConnection];
    await a.commit([sale]);
    await b.delivery();
    const { hash: _hash, ...place } = originOf(a.site, { sequence: 2 });
    await recreate(b, { ...place, hash: new Uint8Array(16).fill(7) });
    expect(stock()).toBe(4n);
    await recreate(b, { ...place, hash: new Uint8Array(16).fill(8) });
    expect(stock()).toBe(1n);
  });

  it('is an entry of the log that changes no row', async () => {
    const [a, b] = (await opened()) as [TestConnection, TestConnection];
    await a.commit([sale]);
    await b.delivery();
    await recreate(b, originOf(a.site, { sequence: 2 }));
    expect(logged()).toBe(3n);
    expect((await a.delivery()).groups).toEqual([]);
  });
});

describe('an origin', () => {
  it('is remembered for a year, however much is admitted meanwhile', async () => {
    const [a, b, c] = (await opened()) as [TestConnection, TestConnection, TestConnection];
    const origin = originOf(a.site, a.site.write([sale]));
    await recreate(b, origin);
    for (const connection of [a, b, c]) await connection.close();
    const again = async (site: TestSite): Promise<void> => {
      const connection = await tested.server.open(site);
      await connection.commit([update('products', 'p', { name: 'green tea' })]);
      await recreate(connection, origin);
      await connection.close();
    };
    nowMs += 364 * DAY_MS;
    await again(b.site);
    expect(stock()).toBe(7n);
    nowMs += 2 * DAY_MS;
    await again(c.site);
    expect(stock()).toBe(4n);
  });
});

describe('a client of protocol version 2, which has no origins', () => {
  it('is welcomed with its own version, and its pushes count', async () => {
    await opened();
    const site = new TestSite();
    const connection = await tested.server.connect(site);
    connection.hello(await tested.server.token(), 'household', { protocolVersion: 2 });
    const welcome = await connection.next('welcome');
    expect(welcome.protocolVersion).toBe(2);
    expect(decodeServerMessage(encodeMessage(welcome))).toEqual(welcome);
    await connection.delivery();
    await connection.commit([sale]);
    expect(stock()).toBe(7n);
  });
});
