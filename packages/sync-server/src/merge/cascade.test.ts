import { describe, expect, it } from 'vitest';
import { insert, remove, update, type Change } from '../testing/changeset.ts';
import { serverUnderTest } from '../testing/server-under-test.ts';
import type { TestConnection } from '../testing/test-client.ts';
import { told } from '../testing/told.ts';

const tested = serverUnderTest();

async function two(): Promise<{ a: TestConnection; b: TestConnection }> {
  const a = await tested.server.open(undefined, { principal: 'ann' });
  const b = await tested.server.open(undefined, { principal: 'ben' });
  await a.commit([insert('accounts', 'x', { name: 'x' }), insert('accounts', 'y', { name: 'y' }), insert('entries', 'old', { account_id: 'y', amount: 1n, note: 'old' })]);
  await b.delivery();
  return { a, b };
}

const query = (sql: string): unknown => tested.server.query(sql);
const ledger = (): unknown => query('SELECT table_name, row_key, column_name, lost_value, lost_by, won_by FROM rockpool_conflict ORDER BY id');
const rules = (): unknown => query('SELECT DISTINCT rule FROM rockpool_conflict');
const counts = (): unknown => query('SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM entries), (SELECT count(*) FROM splits)');

describe('a parent deleted by one who had not seen its children', () => {
  it('takes them with it, of all levels, in one watermark, and their cells are in the ledger', async () => {
    const { a, b } = await two();
    await b.commit([insert('entries', 'e', { account_id: 'x', amount: 7n }), insert('splits', 's', { entry_id: 'e', share: 3n })]);
    a.site.write([remove('accounts', 'x')]);
    a.push();
    const anns = await a.decided(2);
    expect(anns.outcomes).toMatchObject([{ kind: 'admitted', watermark: 3 }]);
    expect(counts()).toEqual([[1n, 1n, 0n]]);
    expect(rules()).toEqual([['cascade']]);
    expect(ledger()).toEqual(
      expect.arrayContaining([
        ['entries', '["e"]', 'amount', 7n, 'ben', 'ann'],
        ['splits', '["s"]', 'share', 3n, 'ben', 'ann'],
      ]),
    );
    const bens = await b.delivery();
    expect(bens).toMatchObject({ from: 2, to: 3 });
    for (const name of ['accounts', 'entries', 'splits']) expect(told(bens, name)).toMatchObject([{ kind: 'delete' }]);
  });

  it('takes also one that was moved to it meanwhile', async () => {
    const { a, b } = await two();
    await b.commit([update('entries', 'old', { account_id: 'x' })]);
    a.site.write([remove('accounts', 'x')]);
    a.push();
    await a.decided(2);
    expect(counts()).toEqual([[1n, 0n, 0n]]);
  });
});

describe('a child that arrives after its parent was deleted', () => {
  const late = async (bens: readonly Change[], options: { atomic?: boolean } = {}): Promise<Awaited<ReturnType<TestConnection['decided']>>> => {
    const { a, b } = await two();
    b.site.write(bens, options);
    await a.commit([remove('accounts', 'x')]);
    b.push();
    return b.decided(1);
  };

  it('is admitted as a deleted row, with all below it, and its author is told', async () => {
    const delivery = await late([insert('splits', 's', { entry_id: 'e', share: 3n }), insert('entries', 'e', { account_id: 'x', amount: 7n })]);
    expect(delivery.outcomes).toMatchObject([{ kind: 'admitted', watermark: 3 }]);
    expect(counts()).toEqual([[1n, 1n, 0n]]);
    expect(rules()).toEqual([['cascade']]);
    expect(ledger()).toEqual(
      expect.arrayContaining([
        ['entries', '["e"]', 'amount', 7n, 'ben', 'ann'],
        ['splits', '["s"]', 'share', 3n, 'ben', 'ann'],
      ]),
    );
    expect(told(delivery, 'entries')).toMatchObject([{ kind: 'delete', key: ['e'] }]);
    expect(told(delivery, 'splits')).toMatchObject([{ kind: 'delete', key: ['s'] }]);
    expect(query(`SELECT count(*) FROM rockpool_row_version WHERE image IS NOT NULL`)).toEqual([[3n]]);
  });

  it('takes what is sent after it along, level by level', async () => {
    const { a, b } = await two();
    b.site.write([insert('entries', 'e', { account_id: 'x', amount: 7n })]);
    b.site.write([insert('splits', 's', { entry_id: 'e', share: 3n })]);
    b.site.write([update('splits', 's', { share: 4n })]);
    await a.commit([remove('accounts', 'x')]);
    b.push();
    expect((await b.decided(3)).outcomes).toMatchObject([{ kind: 'admitted' }, { kind: 'admitted' }, { kind: 'admitted' }]);
    expect(counts()).toEqual([[1n, 1n, 0n]]);
  });

  it('by being moved to it, is deleted too', async () => {
    const delivery = await late([update('entries', 'old', { account_id: 'x' })]);
    expect(delivery.outcomes).toMatchObject([{ kind: 'admitted' }]);
    expect(counts()).toEqual([[1n, 0n, 0n]]);
    expect(ledger()).toEqual(expect.arrayContaining([['entries', '["old"]', 'note', 'old', 'ann', 'ann'], ['entries', '["old"]', 'account_id', 'x', 'ben', 'ann']]));
  });

  it('is refused where it is a part of an atomic changeset', async () => {
    const { outcomes } = await late([insert('entries', 'e', { account_id: 'x', amount: 7n }), update('accounts', 'y', { name: 'z' })], { atomic: true });
    expect(outcomes).toMatchObject([{ kind: 'rejected', code: 'atomic-conflict' }]);
    expect(query('SELECT name FROM accounts')).toEqual([['y']]);
  });

  it('is rejected where the foreign key has no cascade, or its author had seen the delete, or there never was a parent', async () => {
    const { a, b } = await two();
    b.site.write([insert('limits', 'l', { account_id: 'x' })]);
    await a.commit([remove('accounts', 'x')]);
    b.push();
    await b.decided(1);
    const refused = { kind: 'rejected', code: 'constraint-foreign-key' };
    b.site.write([insert('entries', 'e', { account_id: 'x', amount: 7n })]);
    b.site.write([insert('entries', 'f', { account_id: 'never', amount: 7n })], { base: 0 });
    b.push();
    expect((await b.decided(3)).outcomes).toMatchObject([refused, refused]);
    expect(tested.server.query('SELECT count(*) FROM limits')).toEqual([[0n]]);
  });
});
