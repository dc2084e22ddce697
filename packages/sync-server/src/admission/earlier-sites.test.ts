import type { EarlierSite } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';

const tested = serverUnderTest();

const conflicts = (): unknown =>
  tested.server.query('SELECT column_name, rule, lost_value, won_value FROM rockpool_conflict ORDER BY id');
const name = (): unknown => tested.server.query(`SELECT name FROM products WHERE id = 'p'`).flat()[0];
const stock = (): unknown => tested.server.query(`SELECT stock FROM products WHERE id = 'p'`).flat()[0];

const product = insert('products', 'p', { stock: 10n, name: 'tea' });
const named = (text: string): Change => update('products', 'p', { name: text });

function lastOf({ siteId, hashes }: TestSite, upTo: number = 10): EarlierSite {
  const sequence = hashes.length - 1;
  return { last: { siteId, sequence, hash: hashes[sequence] as Uint8Array }, upTo };
}

/** A site whose author wrote as `earlier` before. Its writes have the base 0, as if written before those arrived. */
async function successor(...earlier: readonly EarlierSite[]): Promise<TestConnection> {
  const site = new TestSite();
  site.earlierSites = earlier;
  return tested.server.open(site);
}

/** A write that was pending when its author became another site. */
const pending = (site: TestConnection, change: Change): ReturnType<TestConnection['commit']> =>
  site.commit([change], { base: 0 });

describe('what an author wrote under an earlier site id', () => {
  it('counts as its own: a later write replaces it without a conflict [MR-01]', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    await a.commit([named('green tea')]);
    const b = await successor(lastOf(a.site));
    expect(await pending(b, named('black tea'))).toMatchObject({ kind: 'admitted', conflictCount: 0 });
    expect(name()).toBe('black tea');
    expect(conflicts()).toEqual([]);
  });

  it('counts as another author’s if the push does not name the site', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    await pending(await successor(), named('black tea'));
    expect(name()).toBe('tea');
    expect(conflicts()).toEqual([['name', 'one-insert-wins', 'black tea', 'tea']]);
  });

  it('counts up to the named changeset: a copy of the file may have written more as the same site [MR-49]', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    const shared = lastOf(a.site);
    await a.commit([named('of the copy')]);
    await pending(await successor(shared), named('of the author'));
    expect(name()).toBe('of the author');
    expect(conflicts()).toEqual([['name', 'lww', 'of the copy', 'of the author']]);
  });

  it('counts only for changesets that were written while its rows were shown', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    await a.commit([named('green tea')]);
    const b = await successor(lastOf(a.site, 1));
    await pending(b, update('products', 'p', { price: 3n, currency: 'EUR' }));
    expect(await pending(b, named('black tea'))).toMatchObject({ conflictCount: 1 });
    expect(conflicts()).toEqual([['name', 'one-insert-wins', 'black tea', 'green tea']]);
  });

  it('does not count if a copy has written other changesets as the same site [MR-49]', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    const other = new TestSite(a.site.siteId);
    other.write([insert('products', 'other', { stock: 1n })]);
    await pending(await successor(lastOf(other)), named('black tea'));
    expect(conflicts()).toEqual([['name', 'one-insert-wins', 'black tea', 'tea']]);
  });

  it('counts up to the last admitted changeset if the named one was rejected', async () => {
    const a = await tested.server.open();
    await a.commit([product, insert('accounts', 'x', { name: 'Cash' })]);
    expect(await a.commit([insert('accounts', 'y', { name: 'Cash' })])).toMatchObject({ kind: 'rejected' });
    await pending(await successor(lastOf(a.site)), named('black tea'));
    expect(name()).toBe('black tea');
    expect(conflicts()).toEqual([]);
  });

  it.each([
    [999, []],
    [1_000, [['name', 'one-insert-wins', 'black tea', 'tea']]],
  ])('counts if the last %i changesets were rejected, up to 999', async (rejections, listed) => {
    const a = await tested.server.open();
    await a.commit([product]);
    const child = insert('entries', 'e', { account_id: 'missing', amount: 1n });
    for (let rejected = 0; rejected < rejections; rejected++) a.site.write([child]);
    a.push(2);
    await a.decided(rejections + 1);
    await pending(await successor(lastOf(a.site)), named('black tea'));
    expect(conflicts()).toEqual(listed);
  });

  it('counts under each of several earlier ids', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    const b = await successor(lastOf(a.site));
    await pending(b, named('green tea'));
    const c = await successor(lastOf(a.site), lastOf(b.site));
    await pending(c, update('products', 'p', { name: 'black tea', price: 3n, currency: 'EUR' }));
    expect(name()).toBe('black tea');
    expect(conflicts()).toEqual([]);
  });

  it('does not hide what others added to a counter in between [MR-09]', async () => {
    const [a, other] = [await tested.server.open(), await tested.server.open()];
    await a.commit([product]);
    await other.delivery();
    await other.commit([update('products', 'p', { stock: 1n })]);
    await a.delivery();
    await a.commit([update('products', 'p', { stock: 2n })], { base: 1 });
    const b = await successor(lastOf(a.site));
    await pending(b, update('products', 'p', { stock: 4n }));
    expect(stock()).toBe(17n);
    await pending(b, remove('products', 'p'));
    expect(conflicts()).toEqual([['stock', 'delete-wins', 17n, null]]);
  });

  it('is delivered with what its author added to it, if the connection ended before it was delivered', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    const site = new TestSite();
    const first = await tested.server.open(site);
    // The author's rows lack this until a delivery: a copy of the file has sent it.
    await a.commit([update('products', 'p', { stock: 2n })]);
    site.earlierSites = [lastOf(a.site)];
    site.write([update('products', 'p', { stock: 4n })]);
    first.push();
    await first.roundTrip();
    await first.close();
    const b = await tested.server.connect(site);
    const { first: delivered } = await b.open(await tested.server.token(), 'household');
    expect(delivered).toMatchObject({ from: 1, lastAckedSequence: 1 });
    expect(delivered.groups).toMatchObject([{ kind: 'update', keys: [['p']], values: [[16n]] }]);
  });

  it('is deleted knowingly, also under update-wins', async () => {
    const a = await tested.server.open();
    await a.commit([insert('notes', 'n', { title: 'one', reads: 0n })]);
    await a.commit([update('notes', 'n', { title: 'two' })]);
    await pending(await successor(lastOf(a.site)), remove('notes', 'n'));
    expect(tested.server.query('SELECT count(*) FROM notes')).toEqual([[0n]]);
    expect(conflicts()).toEqual([]);
  });

  it('is known to be deleted: a child of the deleted row is rejected [MR-72]', async () => {
    const a = await tested.server.open();
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([remove('accounts', 'x')]);
    const child = insert('entries', 'e', { account_id: 'x', amount: 1n });
    const b = await successor(lastOf(a.site));
    expect(await pending(b, child)).toMatchObject({ kind: 'rejected', code: 'constraint-foreign-key' });
    // Without the name of the earlier site, the entry is deleted with its account.
    expect(await pending(await successor(), child)).toMatchObject({ kind: 'admitted', conflictCount: 5 });
  });

  it('has earlier stamps than later writes, even if the clock was set back meanwhile [MR-06]', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    await (await successor(lastOf(a.site))).commit([named('black tea')], { base: 0, ageMs: 60_000 });
    const stamps = tested.server.query('SELECT stamp_us FROM rockpool_log ORDER BY watermark').flat() as bigint[];
    expect(stamps).toEqual([stamps[0], (stamps[0] as bigint) + 1n]);
  });

  it('is remembered across a restart of the server', async () => {
    const a = await tested.server.open();
    await a.commit([product]);
    a.confirm();
    await a.roundTrip();
    await tested.restart();
    await pending(await successor(lastOf(a.site)), named('black tea'));
    expect(name()).toBe('black tea');
  });
});
