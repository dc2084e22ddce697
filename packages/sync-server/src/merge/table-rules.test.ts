import { describe, expect, it } from 'vitest';
import { insert, remove, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { cells, deliveredRows } from '../../testing/delivered-rows.ts';

const tested = serverUnderTest();

/** Two clients that have seen one product and one note, two hours old. */
async function two(): Promise<{ a: TestConnection; b: TestConnection }> {
  const a = await tested.server.open(undefined, { principal: 'ann' });
  const b = await tested.server.open(undefined, { principal: 'ben' });
  await a.commit(
    [
      insert('products', 'p', { stock: 10n, price: 5n, currency: 'EUR' }),
      insert('notes', 'n', { title: 'start', reads: 0n }),
    ],
    { ageMs: 7_200_000 },
  );
  await b.delivery();
  return { a, b };
}

const stock = (): unknown => tested.server.query('SELECT stock FROM products')[0]?.[0];

describe('a column group', () => {
  it('cannot be updated in part [MR-08]', async () => {
    const { a } = await two();
    const refused = {
      kind: 'rejected',
      code: 'changeset-invalid',
      fields: { problem: 'the changeset writes only part of a column group', table: 'products' },
    };
    expect(await a.commit([update('products', 'p', { price: 6n })])).toMatchObject(refused);
    expect(await a.commit([update('products', 'p', { name: 'x', currency: 'DKK' })])).toMatchObject(refused);
    expect(await a.commit([update('products', 'p', { name: 'x', stock: 1n })])).toMatchObject({ kind: 'admitted' });
    expect(await a.commit([update('products', 'p', { price: 6n, currency: 'DKK' })])).toMatchObject({
      kind: 'admitted',
    });
  });

  it('loses as a whole [MR-08]', async () => {
    const { a, b } = await two();
    b.site.write([update('products', 'p', { price: 40n, currency: 'DKK' })], { ageMs: 60_000 });
    await a.commit([update('products', 'p', { price: 6n, currency: 'EUR' })]);
    b.push();
    await b.decided(1);
    expect(tested.server.query('SELECT price, currency FROM products')).toEqual([[6n, 'EUR']]);
    expect(tested.server.query('SELECT column_name, lost_value FROM rockpool_conflict ORDER BY id')).toEqual([
      ['price', 40n],
      ['currency', 'DKK'],
    ]);
  });
});

describe('a counter', () => {
  it('sums concurrent additions, and sends the sum to each author', async () => {
    const { a, b } = await two();
    b.site.write([update('products', 'p', { stock: -2n })]);
    await a.commit([update('products', 'p', { stock: 5n })]);
    b.push();
    const bens = await b.decided(1);
    expect(stock()).toBe(13n);
    expect(deliveredRows(bens, 'products')).toEqual([{ kind: 'update', key: ['p'], cells: cells({ stock: 13n }) }]);
    expect(bens.outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 0 }]);
    expect(deliveredRows(await a.delivery(), 'products')).toEqual([
      { kind: 'update', key: ['p'], cells: cells({ stock: 13n }) },
    ]);
    // The author has seen every other addition, so its copy has the right sum and needs no correction.
    b.site.write([update('products', 'p', { stock: 1n })]);
    b.push();
    expect(deliveredRows(await b.decided(2), 'products')).toEqual([]);
    expect(stock()).toBe(14n);
  });

  it('counts an addition once across repeated pushes, lost replies and restarts, and sends the sum on the next connection [MR-09]', async () => {
    const { a, b } = await two();
    const site = b.site;
    site.write([update('products', 'p', { stock: 1n })]);
    site.write([update('products', 'p', { stock: 2n })]);
    await a.commit([update('products', 'p', { stock: 100n })]);
    for (let i = 0; i < 3; i++) b.push(1, 2);
    b.push(2, 2);
    await b.roundTrip();
    b.cut();
    await tested.restart();
    const again = await tested.server.connect(site);
    again.hello(await tested.server.token('editor', 'ben'), 'household');
    again.push(1, 2);
    await again.next('welcome');
    const first = await again.delivery();
    expect(first.outcomes).toHaveLength(2);
    expect(deliveredRows(first, 'products')).toEqual([{ kind: 'update', key: ['p'], cells: cells({ stock: 113n }) }]);
    await again.roundTrip();
    expect(stock()).toBe(113n);
  });

  it('rejects values and sums that are not 64-bit integers, and names the column [MR-10]', async () => {
    const { a } = await two();
    expect(await a.commit([update('products', 'p', { stock: 2n ** 63n - 1n })])).toMatchObject({
      code: 'value-invalid',
      fields: { table: 'products', column: 'stock', problem: 'counter-range' },
    });
    expect(await a.commit([update('products', 'p', { stock: 1.5 })])).toMatchObject({
      code: 'value-invalid',
      fields: { table: 'products', column: 'stock', problem: 'counter-not-integer' },
    });
    expect(await a.commit([update('products', 'p', { stock: null })])).toMatchObject({ code: 'value-invalid' });
    expect(await a.commit([insert('products', 'q', { stock: 'many' })])).toMatchObject({ code: 'value-invalid' });
    expect(stock()).toBe(10n);
  });
});

describe('a row that an update brings back', () => {
  const whole = { kind: 'insert', key: ['n'], cells: cells({ title: 'ben', reads: 0n }) };

  it('is delivered whole to every site, including the one that deleted it [MR-12]', async () => {
    const { a, b } = await two();
    const c = await tested.server.open(new TestSite());
    b.site.write([update('notes', 'n', { title: 'ben' })]);
    await a.commit([remove('notes', 'n')]);
    expect(deliveredRows(await c.delivery(), 'notes')).toMatchObject([{ kind: 'delete' }]);
    b.push();
    expect(deliveredRows(await b.decided(1), 'notes')).toEqual([whole]);
    expect(deliveredRows(await a.delivery(), 'notes')).toEqual([whole]);
    expect(deliveredRows(await c.delivery(), 'notes')).toEqual([whole]);
    expect(tested.server.query('SELECT rule, lost_by, won_by FROM rockpool_conflict')).toEqual([
      ['update-wins', 'ann', 'ben'],
    ]);
  });

  it('is delivered whole to an author whose delete arrives after the update', async () => {
    const { a, b } = await two();
    a.site.write([remove('notes', 'n')]);
    await b.commit([update('notes', 'n', { title: 'ben' })]);
    a.push();
    expect(deliveredRows(await a.decided(2), 'notes')).toEqual([whole]);
  });

  it('is delivered whole to an offline site and to a new one', async () => {
    const { a, b } = await two();
    await b.close();
    const c = await tested.server.open();
    c.site.write([update('notes', 'n', { title: 'ben' })]);
    await a.commit([remove('notes', 'n')]);
    c.push();
    await c.decided(1);
    const again = await tested.server.connect(b.site);
    const { first } = await again.open(await tested.server.token('editor', 'ben'), 'household');
    expect(deliveredRows(first, 'notes')).toEqual([whole]);
    const fresh = await tested.server.connect();
    expect(deliveredRows((await fresh.open(await tested.server.token(), 'household')).first, 'notes')).toEqual([whole]);
  });
});
