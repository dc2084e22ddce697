import { describe, expect, it } from 'vitest';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { TestConnection } from '../../testing/test-client.ts';

const tested = serverUnderTest();

/** Two clients that have seen one row of each table, all two hours old. */
async function two(): Promise<{ a: TestConnection; b: TestConnection }> {
  const a = await tested.server.open(undefined, { principal: 'ann' });
  const b = await tested.server.open(undefined, { principal: 'ben' });
  const rows = [
    insert('entries', 'e', { amount: 1n, note: 'start' }),
    insert('entries', 'f', { amount: 1n, note: 'start' }),
    insert('products', 'p', { stock: 10n }),
    insert('notes', 'n', { title: 'start', reads: 0n }),
  ];
  await a.commit(rows, { ageMs: 7_200_000 });
  await b.delivery();
  return { a, b };
}

/** Ann's write has the given age. Ben's atomic changeset, which has not seen it, arrives afterwards. */
async function against(anns: readonly Change[], annsAgeMs: number, bens: readonly Change[]): Promise<unknown> {
  const { a, b } = await two();
  b.site.write(bens, { ageMs: 60_000, atomic: true });
  await a.commit(anns, { ageMs: annsAgeMs });
  b.push();
  return (await b.decided(1)).outcomes[0];
}

const notes = (): unknown => tested.server.query('SELECT id, note FROM entries ORDER BY id');
const conflictLog = (): unknown =>
  tested.server.query('SELECT column_name, rule, lost_by FROM rockpool_conflict ORDER BY id');

describe('an atomic changeset', () => {
  it('is rejected as a whole, without a trace, if a write loses [MR-17]', async () => {
    const bens = [update('entries', 'e', { note: 'ben' }), update('entries', 'f', { note: 'ben' })];
    const outcome = await against([update('entries', 'e', { note: 'ann' })], 0, bens);
    expect(outcome).toEqual({ kind: 'rejected', sequence: 1, code: 'atomic-conflict', fields: { table: 'entries' } });
    expect(notes()).toEqual([
      ['e', 'ann'],
      ['f', 'start'],
    ]);
    expect(conflictLog()).toEqual([]);
    expect(tested.server.query('SELECT max(watermark) FROM rockpool_log')).toEqual([[2n]]);
  });

  it('is admitted if it wins, and the values that it replaced are in the conflict log', async () => {
    const bens = [update('entries', 'e', { note: 'ben' }), update('entries', 'f', { note: 'ben' })];
    expect(await against([update('entries', 'e', { note: 'ann' })], 120_000, bens)).toMatchObject({
      kind: 'admitted',
      conflictCount: 1,
    });
    expect(notes()).toEqual([
      ['e', 'ben'],
      ['f', 'ben'],
    ]);
    expect(conflictLog()).toEqual([['note', 'lww', 'ann']]);
  });

  it('adds to a counter that others have added to [MR-17]', async () => {
    expect(
      await against([update('products', 'p', { stock: 5n })], 0, [update('products', 'p', { stock: -3n })]),
    ).toMatchObject({ kind: 'admitted' });
    expect(tested.server.query('SELECT stock FROM products')).toEqual([[12n]]);
  });

  it('is rejected if it updates a deleted row', async () => {
    expect(await against([remove('entries', 'e')], 120_000, [update('entries', 'e', { note: 'ben' })])).toMatchObject({
      code: 'atomic-conflict',
    });
  });

  it('is rejected if it updates a deleted counter row', async () => {
    expect(await against([remove('products', 'p')], 120_000, [update('products', 'p', { stock: 1n })])).toMatchObject({
      code: 'atomic-conflict',
    });
  });

  it('is admitted if it restores a row by an update', async () => {
    expect(await against([remove('notes', 'n')], 0, [update('notes', 'n', { title: 'ben' })])).toMatchObject({
      kind: 'admitted',
    });
    expect(tested.server.query('SELECT title FROM notes')).toEqual([['ben']]);
    expect(conflictLog()).toEqual([[null, 'update-wins', 'ann']]);
  });

  it('is rejected if its delete loses to an update', async () => {
    expect(await against([update('notes', 'n', { title: 'ann' })], 120_000, [remove('notes', 'n')])).toMatchObject({
      code: 'atomic-conflict',
    });
  });

  it('is admitted if it loses to equal values, because no value is lost [MR-17]', async () => {
    const bens = [update('entries', 'e', { note: 'both' }), update('entries', 'f', { note: 'ben' })];
    expect(await against([update('entries', 'e', { note: 'both' })], 0, bens)).toMatchObject({
      kind: 'admitted',
      conflictCount: 0,
    });
    expect(notes()).toEqual([
      ['e', 'both'],
      ['f', 'ben'],
    ]);
  });

  it('is admitted if it inserts a row equal to a concurrent one, and rejected if a column differs', async () => {
    const a = await tested.server.open(undefined, { principal: 'ann' });
    const b = await tested.server.open(undefined, { principal: 'ben' });
    b.site.write([insert('products', 'q', { stock: 1n })], { ageMs: 60_000, atomic: true });
    b.site.write([insert('products', 'r', { stock: 2n })], { ageMs: 60_000, atomic: true });
    await a.commit([insert('products', 'q', { stock: 1n }), insert('products', 'r', { stock: 1n })]);
    b.push();
    expect((await b.decided(2)).outcomes).toMatchObject([{ kind: 'admitted' }, { code: 'atomic-conflict' }]);
  });

  it('is admitted if it deletes rows that others have deleted', async () => {
    expect(
      await against([remove('entries', 'e')], 0, [remove('entries', 'e'), update('entries', 'f', { note: 'ben' })]),
    ).toMatchObject({ kind: 'admitted' });
  });

  it('is rejected if it deletes a row that a concurrent insert has replaced, even if no value is lost', async () => {
    const anns = await tested.server.open(undefined, { principal: 'ann' });
    const bens = await tested.server.open(undefined, { principal: 'ben' });
    bens.site.write([insert('entries', 'e', { amount: 1n })], { ageMs: 60_000 });
    bens.site.write([remove('entries', 'e')], { atomic: true });
    await anns.commit([insert('entries', 'e', { amount: 1n })]);
    bens.push();
    expect((await bens.decided(2)).outcomes).toMatchObject([{ kind: 'admitted' }, { code: 'atomic-conflict' }]);
  });
});
