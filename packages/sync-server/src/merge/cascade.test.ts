import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { MAX_CASCADED_ROWS } from './merged-rows.ts';
import { deliveredRows } from '../../testing/delivered-rows.ts';

const tested = serverUnderTest();

async function two(): Promise<{ a: TestConnection; b: TestConnection }> {
  const a = await tested.server.open(undefined, { principal: 'ann' });
  const b = await tested.server.open(undefined, { principal: 'ben' });
  await a.commit([
    insert('accounts', 'x', { name: 'x' }),
    insert('accounts', 'y', { name: 'y' }),
    insert('entries', 'old', { account_id: 'y', amount: 1n, note: 'old' }),
  ]);
  await b.delivery();
  return { a, b };
}

const query = (sql: string): unknown => tested.server.query(sql);
const conflictLog = (): unknown =>
  query('SELECT table_name, row_key, column_name, lost_value, lost_by, won_by FROM rockpool_conflict ORDER BY id');
const rules = (): unknown => query('SELECT DISTINCT rule FROM rockpool_conflict');
const counts = (): unknown =>
  query('SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM entries), (SELECT count(*) FROM splits)');

describe('a parent deleted by an author who had not seen its children', () => {
  it('deletes children of all levels in one watermark, with their cells in the conflict log [MR-65]', async () => {
    const { a, b } = await two();
    await b.commit([
      insert('entries', 'e', { account_id: 'x', amount: 7n }),
      insert('splits', 's', { entry_id: 'e', share: 3n }),
    ]);
    a.site.write([remove('accounts', 'x')]);
    a.push();
    const anns = await a.decided(2);
    expect(anns.outcomes).toMatchObject([{ kind: 'admitted', watermark: 3 }]);
    expect(counts()).toEqual([[1n, 1n, 0n]]);
    expect(rules()).toEqual([['cascade']]);
    expect(conflictLog()).toEqual(
      expect.arrayContaining([
        ['entries', '["e"]', 'amount', 7n, 'ben', 'ann'],
        ['splits', '["s"]', 'share', 3n, 'ben', 'ann'],
      ]),
    );
    const bens = await b.delivery();
    expect(bens).toMatchObject({ from: 2, to: 3 });
    for (const name of ['accounts', 'entries', 'splits'])
      expect(deliveredRows(bens, name)).toMatchObject([{ kind: 'delete' }]);
  });

  // `npm test` checks the limit in merged-rows.test.ts. This takes tens of thousands of rows.
  it.runIf(atLevel({ test: false, verify: true }))(
    'is rejected if it would delete more rows than a changeset may, and leaves no trace',
    async () => {
      const { a, b } = await two();
      // Rows that have only a key have one entry each in the conflict log.
      const many = (from: number): Change[] =>
        Array.from({ length: MAX_CASCADED_ROWS / 2 + 1 }, (_, i) => insert('stickers', ['x', `s${from + i}`], {}));
      const left = (): unknown => query('SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM stickers)');
      for (const from of [0, 100_000]) await b.commit(many(from));
      a.site.write([remove('accounts', 'x')]);
      a.push();
      const { outcomes } = await a.decided(2);
      expect(outcomes.at(-1)).toMatchObject({
        kind: 'rejected',
        code: 'changeset-too-large',
        fields: { limitRows: MAX_CASCADED_ROWS },
      });
      expect(left()).toEqual([[2n, BigInt(MAX_CASCADED_ROWS + 2)]]);
      // Just below the limit it is admitted.
      await b.commit(Array.from({ length: 10 }, (_, i) => remove('stickers', ['x', `s${i}`])));
      a.site.write([remove('accounts', 'x')]);
      a.push(3);
      expect((await a.decided(3)).outcomes.at(-1)).toMatchObject({ kind: 'admitted' });
      expect(left()).toEqual([[1n, 0n]]);
    },
  );

  it('deletes children without value columns, which the conflict log keeps as whole rows [MR-65]', async () => {
    const { a, b } = await two();
    await b.commit([insert('stickers', ['x', 'seen'], {})]);
    b.site.write([insert('stickers', ['x', 'late'], {})]);
    a.site.write([remove('accounts', 'x')]);
    a.push();
    await a.decided(2);
    b.push();
    expect((await b.decided(2)).outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
    expect(query('SELECT * FROM stickers')).toEqual([]);
    expect(conflictLog()).toEqual([
      ['stickers', '["x","seen"]', null, null, 'ben', 'ann'],
      ['stickers', '["x","late"]', null, null, 'ben', 'ann'],
    ]);
  });

  it('deletes a child that was concurrently moved to it [MR-65]', async () => {
    const { a, b } = await two();
    await b.commit([update('entries', 'old', { account_id: 'x' })]);
    a.site.write([remove('accounts', 'x')]);
    a.push();
    await a.decided(2);
    expect(counts()).toEqual([[1n, 0n, 0n]]);
  });
});

describe('a child that arrives after its parent was deleted', () => {
  const late = async (
    bens: readonly Change[],
    options: { atomic?: boolean } = {},
  ): Promise<Awaited<ReturnType<TestConnection['decided']>>> => {
    const { a, b } = await two();
    b.site.write(bens, options);
    await a.commit([remove('accounts', 'x')]);
    b.push();
    return b.decided(1);
  };

  it('is admitted as a deleted row with its own children, and its author is corrected [MR-65]', async () => {
    const delivery = await late([
      insert('splits', 's', { entry_id: 'e', share: 3n }),
      insert('entries', 'e', { account_id: 'x', amount: 7n }),
    ]);
    expect(delivery.outcomes).toMatchObject([{ kind: 'admitted', watermark: 3 }]);
    expect(counts()).toEqual([[1n, 1n, 0n]]);
    expect(rules()).toEqual([['cascade']]);
    expect(conflictLog()).toEqual(
      expect.arrayContaining([
        ['entries', '["e"]', 'amount', 7n, 'ben', 'ann'],
        ['splits', '["s"]', 'share', 3n, 'ben', 'ann'],
      ]),
    );
    expect(deliveredRows(delivery, 'entries')).toMatchObject([{ kind: 'delete', key: ['e'] }]);
    expect(deliveredRows(delivery, 'splits')).toMatchObject([{ kind: 'delete', key: ['s'] }]);
    expect(query(`SELECT count(*) FROM rockpool_row_version WHERE image IS NOT NULL`)).toEqual([[3n]]);
  });

  it('is deleted, and so are its own children that are pushed after it, level by level', async () => {
    const { a, b } = await two();
    b.site.write([insert('entries', 'e', { account_id: 'x', amount: 7n })]);
    b.site.write([insert('splits', 's', { entry_id: 'e', share: 3n })]);
    b.site.write([update('splits', 's', { share: 4n })]);
    await a.commit([remove('accounts', 'x')]);
    b.push();
    expect((await b.decided(3)).outcomes).toMatchObject([
      { kind: 'admitted' },
      { kind: 'admitted' },
      { kind: 'admitted' },
    ]);
    expect(counts()).toEqual([[1n, 1n, 0n]]);
  });

  it('is also deleted if it arrives by a move', async () => {
    const delivery = await late([update('entries', 'old', { account_id: 'x' })]);
    expect(delivery.outcomes).toMatchObject([{ kind: 'admitted' }]);
    expect(counts()).toEqual([[1n, 0n, 0n]]);
    expect(conflictLog()).toEqual(
      expect.arrayContaining([
        ['entries', '["old"]', 'note', 'old', 'ann', 'ann'],
        ['entries', '["old"]', 'account_id', 'x', 'ben', 'ann'],
      ]),
    );
  });

  it('is deleted if it refers to a unique column of the parent [MR-66]', async () => {
    const delivery = await late([
      insert('cards', 'k', { account_name: 'x', digits: '1' }),
      insert('cards', 'l', { account_name: 'y', digits: '2' }),
    ]);
    expect(delivery.outcomes).toMatchObject([{ kind: 'admitted' }]);
    expect(query('SELECT id FROM cards')).toEqual([['l']]);
    expect(deliveredRows(delivery, 'cards')).toMatchObject([{ kind: 'delete', key: ['k'] }]);
    expect(conflictLog()).toEqual(expect.arrayContaining([['cards', '["k"]', 'digits', '1', 'ben', 'ann']]));
  });

  it('is rejected if it is part of an atomic changeset', async () => {
    const { outcomes } = await late(
      [insert('entries', 'e', { account_id: 'x', amount: 7n }), update('accounts', 'y', { name: 'z' })],
      { atomic: true },
    );
    expect(outcomes).toMatchObject([{ kind: 'rejected', code: 'atomic-conflict' }]);
    expect(query('SELECT name FROM accounts')).toEqual([['y']]);
  });

  it('is rejected if the foreign key has no cascade, its author had seen the delete, or the parent never existed [MR-72]', async () => {
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

describe('a child deleted with its parent', () => {
  /** Ann deletes the account x. Ben, who has not seen the delete, adds an entry with a split. */
  async function gone(): Promise<{ a: TestConnection; b: TestConnection }> {
    const { a, b } = await two();
    b.site.write([
      insert('entries', 'e', { account_id: 'x', amount: 7n, note: 'late' }),
      insert('splits', 's', { entry_id: 'e', share: 3n }),
    ]);
    await a.commit([remove('accounts', 'x')]);
    b.push();
    await b.decided(1);
    await a.delivery();
    expect(counts()).toEqual([[1n, 1n, 0n]]);
    return { a, b };
  }

  it('comes back with its own children when an author who had not seen the delete moves it to another parent [MR-67]', async () => {
    const { b } = await gone();
    b.site.write([update('entries', 'e', { account_id: 'y' })], { base: 1 });
    b.push();
    const bens = await b.decided(2);
    expect(bens.outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 0 }]);
    expect(query('SELECT account_id, amount, note FROM entries ORDER BY id')).toEqual([
      ['y', 7n, 'late'],
      ['y', 1n, 'old'],
    ]);
    expect(counts()).toEqual([[1n, 2n, 1n]]);
    expect(deliveredRows(bens, 'entries')).toMatchObject([{ kind: 'insert', key: ['e'] }]);
    expect(deliveredRows(bens, 'splits')).toMatchObject([{ kind: 'insert', key: ['s'] }]);
  });

  it('is removed from the conflict log of every client once it is restored [MR-67]', async () => {
    const { a, b } = await gone();
    expect(conflictLog()).not.toEqual([]);
    b.site.write([update('entries', 'e', { account_id: 'y' })], { base: 1 });
    b.push();
    await b.decided(2);
    expect(conflictLog()).toEqual([]);
    expect(deliveredRows(await a.delivery(), 'rockpool_conflict').every(({ kind }) => kind === 'delete')).toBe(true);
  });

  it('is deleted again if it is only updated, and the update is in the conflict log [MR-68]', async () => {
    const { b } = await gone();
    b.site.write([update('entries', 'e', { note: 'more' })], { base: 1 });
    b.push();
    expect((await b.decided(2)).outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
    expect(counts()).toEqual([[1n, 1n, 0n]]);
    expect(conflictLog()).toEqual(expect.arrayContaining([['entries', '["e"]', 'note', 'more', 'ben', 'ann']]));
  });

  it('comes back with a parent inserted by an author who had not seen the delete, but not by one who had [MR-69]', async () => {
    const { a, b } = await gone();
    await a.commit([insert('accounts', 'x', { name: 'new' })]);
    expect(counts()).toEqual([[2n, 1n, 0n]]);
    await a.commit([remove('accounts', 'x')]);
    await b.delivery();
    const c = await tested.server.open(undefined, { principal: 'cleo' });
    await c.commit([insert('accounts', 'x', { name: 'blind' })], { base: 0 });
    expect(counts()).toEqual([[2n, 2n, 1n]]);
  });

  it('stays deleted if another row has its key or unique value [MR-71]', async () => {
    const { a, b } = await two();
    b.site.write([insert('cards', 'k', { account_name: 'x', digits: '1' })]);
    await a.commit([remove('accounts', 'x')]);
    b.push();
    await b.decided(1);
    await a.delivery();
    await a.commit([insert('cards', 'm', { account_name: 'y', digits: '1' })]);
    const c = await tested.server.open(undefined, { principal: 'cleo' });
    expect(await c.commit([insert('accounts', 'x', { name: 'x' })], { base: 0 })).toMatchObject({ kind: 'admitted' });
    expect(query('SELECT id FROM cards')).toEqual([['m']]);
    expect(conflictLog()).toEqual(expect.arrayContaining([['cards', '["k"]', 'digits', '1', 'ben', 'ann']]));
  });

  it('comes back only after both parents do, if both were deleted [MR-70]', async () => {
    const { a, b } = await two();
    b.site.write([insert('entries', 'e', { account_id: 'x', amount: 7n })]);
    b.site.write([insert('transfers', 't', { from_id: 'x', to_id: 'y' })]);
    await a.commit([remove('accounts', 'x')]);
    await a.commit([remove('accounts', 'y'), remove('entries', 'old')]);
    b.push();
    await b.decided(2);
    const transfers = (): unknown => query('SELECT id FROM transfers');
    const blind = async (key: string): Promise<void> => {
      const c = await tested.server.open(undefined, { principal: 'cleo' });
      await c.commit([insert('accounts', key, { name: key })], { base: 0 });
    };
    await blind('x');
    expect(transfers()).toEqual([]);
    await blind('y');
    expect(transfers()).toEqual([['t']]);
  });
});
