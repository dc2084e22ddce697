import { describe, expect, it } from 'vitest';
import { buildSchema, columnIdOf } from '@rockpool/shared';
import { cells, deliveredRows } from '../../testing/delivered-rows.ts';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { column, table } from '../../testing/test-schema.ts';

const tested = serverUnderTest();
const query = (sql: string): unknown => tested.server.query(sql);
const memos = (): unknown => query('SELECT id, account_id, note_id FROM memos ORDER BY id');
const conflictLog = (): unknown =>
  query(
    'SELECT row_key, column_name, rule, lost_value, won_value, lost_by, won_by, watermark FROM rockpool_conflict ORDER BY id',
  );
const stored = (): unknown => query('SELECT count(*) FROM rockpool_nulled_reference');

/** Ann and Ben have the accounts x and y, and the note n. */
async function two(): Promise<{ a: TestConnection; b: TestConnection }> {
  const a = await tested.server.open(undefined, { principal: 'ann' });
  const b = await tested.server.open(undefined, { principal: 'ben' });
  await a.commit([
    insert('accounts', 'x', { name: 'x' }),
    insert('accounts', 'y', { name: 'y' }),
    insert('notes', 'n', { title: 'n', reads: 0n }),
  ]);
  await b.delivery();
  return { a, b };
}

/** Ann deletes the account x. Then Ben, who has not seen the delete, writes. */
async function late(
  changes: readonly Change[],
  options: { readonly atomic?: boolean } = {},
): Promise<{ a: TestConnection; b: TestConnection; decided: Awaited<ReturnType<TestConnection['decided']>> }> {
  const { a, b } = await two();
  b.site.write(changes, options);
  await a.commit([remove('accounts', 'x')]);
  b.push();
  const decided = await b.decided(1);
  return { a, b, decided };
}

describe('a reference to a parent that another author deletes, under ON DELETE SET NULL', () => {
  it('becomes NULL for every client if the delete comes second, with the reference in the conflict log [MR-79]', async () => {
    const { a, b } = await two();
    await b.commit([insert('memos', 'm', { account_id: 'x', note_id: 'n', body: 'kept' })]);
    a.site.write([remove('accounts', 'x')]);
    a.push();
    expect((await a.decided(2)).outcomes).toMatchObject([{ kind: 'admitted', watermark: 3, conflictCount: 1 }]);
    expect(memos()).toEqual([['m', null, 'n']]);
    expect(conflictLog()).toEqual([['["m"]', 'account_id', 'set-null', 'x', null, 'ben', 'ann', 3n]]);
    expect(deliveredRows(await b.delivery(), 'memos')).toEqual([
      { kind: 'update', key: ['m'], cells: cells({ account_id: null }) },
    ]);
  });

  it('becomes NULL if the delete comes first, also at its author [MR-79]', async () => {
    const { a, decided } = await late([insert('memos', 'm', { account_id: 'x', body: 'kept' })]);
    expect(decided.outcomes).toMatchObject([{ kind: 'admitted', watermark: 3, conflictCount: 1 }]);
    expect(memos()).toEqual([['m', null, null]]);
    expect(conflictLog()).toEqual([['["m"]', 'account_id', 'set-null', 'x', null, 'ben', 'ann', 3n]]);
    expect(deliveredRows(decided, 'memos')).toEqual([
      { kind: 'update', key: ['m'], cells: cells({ account_id: null }) },
    ]);
    expect(deliveredRows(await a.delivery(), 'memos')).toMatchObject([{ kind: 'insert', key: ['m'] }]);
  });

  it('becomes NULL if the parent is deleted with its own parent [MR-79]', async () => {
    const { a, b } = await two();
    await b.commit([insert('entries', 'e', { account_id: 'x', amount: 1n })]);
    await b.commit([insert('memos', 'm', { account_id: 'x', note_id: 'n' })]);
    await a.delivery();
    await a.commit([remove('accounts', 'x'), remove('notes', 'n')]);
    expect(memos()).toEqual([['m', null, null]]);
    expect(stored()).toEqual([[2n]]);
  });

  it('is rejected in an atomic changeset, and if its author had seen the delete or the parent never existed [MR-79]', async () => {
    const { b, decided } = await late([insert('memos', 'm', { account_id: 'x' })], { atomic: true });
    expect(decided.outcomes).toMatchObject([{ kind: 'rejected', code: 'atomic-conflict' }]);
    b.site.write([insert('memos', 'm', { account_id: 'x' })]);
    b.site.write([insert('memos', 'm', { account_id: 'never' })], { base: 0 });
    b.push();
    const refused = { kind: 'rejected', code: 'constraint-foreign-key' };
    expect((await b.decided(3)).outcomes).toMatchObject([refused, refused]);
    expect(memos()).toEqual([]);
  });

  it('is not set to NULL if a CHECK forbids it, and the changeset that comes second is rejected [MR-82]', async () => {
    const { b, decided } = await late([insert('memos', 'm', { account_id: 'x', body: 'bound' })]);
    expect(decided.outcomes).toMatchObject([{ kind: 'rejected', code: 'constraint-check' }]);
    await b.commit([insert('memos', 'o', { account_id: 'y', body: 'bound' })]);
    const c = await tested.server.open(undefined, { principal: 'cleo' });
    expect(await c.commit([remove('accounts', 'y')], { base: 1 })).toMatchObject({
      kind: 'rejected',
      code: 'constraint-check',
    });
    expect(memos()).toEqual([['o', 'y', null]]);
    expect(stored()).toEqual([[0n]]);
  });
});

describe('a reference that is NULL while its parent is deleted', () => {
  const blind = async (changes: readonly Change[]): Promise<void> => {
    const c = await tested.server.open(undefined, { principal: 'cleo' });
    await c.commit(changes, { base: 0 });
  };

  it('returns with a parent inserted by an author who had not seen the NULL, and leaves the conflict log [MR-80]', async () => {
    const { a, b } = await late([insert('memos', 'm', { account_id: 'x' })]);
    await a.delivery();
    await blind([insert('accounts', 'x', { name: 'again' })]);
    expect(memos()).toEqual([['m', 'x', null]]);
    expect([conflictLog(), stored()]).toEqual([[], [[0n]]]);
    for (const connection of [a, b])
      expect(deliveredRows(await connection.delivery(), 'memos')[0]?.cells.get(columnIdOf('account_id'))).toBe('x');
  });

  it('returns without another reference of its row, which stays in the conflict log [MR-80]', async () => {
    const { a, b } = await two();
    await b.commit([insert('memos', 'm', { account_id: 'x', note_id: 'n' })]);
    b.site.write([insert('accounts', 'x', { name: 'x' })]);
    await a.commit([remove('accounts', 'x'), remove('notes', 'n')]);
    b.push();
    await b.decided(2);
    expect(memos()).toEqual([['m', 'x', null]]);
    expect(query('SELECT column_name, lost_value FROM rockpool_conflict')).toEqual([['note_id', 'n']]);
  });

  it('stays NULL if an author who had seen the NULL creates the parent again [MR-80]', async () => {
    const { a } = await late([insert('memos', 'm', { account_id: 'x' })]);
    await a.delivery();
    await a.commit([insert('accounts', 'x', { name: 'again' })]);
    expect(memos()).toEqual([['m', null, null]]);
  });

  it('returns with a parent that an update revives [MR-80]', async () => {
    const { a, b } = await two();
    await b.commit([insert('memos', 'm', { note_id: 'n' })]);
    a.site.write([remove('notes', 'n')]);
    a.push();
    await a.decided(2);
    expect(memos()).toEqual([['m', null, null]]);
    const c = await tested.server.open(undefined, { principal: 'cleo' });
    await c.commit([update('notes', 'n', { title: 'more' })], { base: 1 });
    expect(memos()).toEqual([['m', null, 'n']]);
  });

  it('is replaced if an author who had not seen the NULL writes another reference [MR-81]', async () => {
    const { b } = await late([insert('memos', 'm', { account_id: 'x' })]);
    b.site.write([update('memos', 'm', { account_id: 'y' })], { base: 1 });
    b.push();
    expect((await b.decided(2)).outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 0 }]);
    expect(memos()).toEqual([['m', 'y', null]]);
    expect([conflictLog(), stored()]).toEqual([[], [[0n]]]);
  });

  it('keeps its entry if an author who had seen the NULL writes another reference [MR-81]', async () => {
    const { b } = await late([insert('memos', 'm', { account_id: 'x' })]);
    await b.commit([update('memos', 'm', { account_id: 'y' })]);
    expect(memos()).toEqual([['m', 'y', null]]);
    expect(conflictLog()).toMatchObject([['["m"]', 'account_id', 'set-null', 'x', null, 'ben', 'ann', 3n]]);
    await blind([insert('accounts', 'x', { name: 'again' })]);
    expect(memos()).toEqual([['m', 'y', null]]);
  });

  it('survives writes of other columns and of unique values [MR-80]', async () => {
    const { a, b } = await late([insert('memos', 'm', { account_id: 'x', slot: 1n })]);
    await b.commit([update('memos', 'm', { body: 'more' })]);
    await b.commit([update('memos', 'm', { slot: 2n })]);
    expect(memos()).toEqual([['m', null, null]]);
    await a.delivery();
    await blind([insert('accounts', 'x', { name: 'again' })]);
    expect(query('SELECT id, account_id, slot, body FROM memos')).toEqual([['m', 'x', 2n, 'more']]);
  });

  it('stays NULL if another row has its unique values [MR-82]', async () => {
    const { b } = await late([insert('memos', 'm', { account_id: 'x', slot: 1n })]);
    await b.commit([update('memos', 'm', { body: 'seen' })]);
    await blind([insert('accounts', 'x', { name: 'again' }), insert('memos', 'k', { account_id: 'x', slot: 1n })]);
    expect(memos()).toEqual([
      ['k', 'x', null],
      ['m', null, null],
    ]);
    expect(conflictLog()).toMatchObject([['["m"]', 'account_id', 'set-null', 'x', null, 'ben', 'ann', 3n]]);
  });

  it('is removed with its row [MR-79]', async () => {
    const { b } = await late([insert('memos', 'm', { account_id: 'x' })]);
    expect(stored()).toEqual([[1n]]);
    await b.commit([remove('memos', 'm')]);
    expect(stored()).toEqual([[0n]]);
  });
});

describe('a reference of two columns under ON DELETE SET NULL', () => {
  const key = [column('house', 'text', { notNull: true }), column('number', 'integer', { notNull: true })];
  const rooms = table('rooms', [...key, column('name', 'text')], { primaryKey: ['house', 'number'] });
  const stays = table(
    'stays',
    [column('id', 'text', { notNull: true }), column('house', 'text'), column('number', 'integer')],
    {
      foreignKeys: [
        {
          columns: ['house', 'number'],
          foreignTable: 'rooms',
          foreignColumns: ['house', 'number'],
          onDelete: 'set null',
          onUpdate: 'no action',
        },
      ],
    },
  );
  const schema = buildSchema([rooms, stays]);
  const inRooms = serverUnderTest({ schema });

  async function open(principal: string): Promise<TestConnection> {
    const connection = await inRooms.server.connect();
    connection.hello(await inRooms.server.token('editor', principal), DATABASE, { schemaHash: schema.hash });
    connection.site.logEpoch = (await connection.next('welcome')).logEpoch;
    await connection.delivery();
    return connection;
  }

  it('returns as a whole, for every client, if an author who had seen the NULLs writes one column [MR-81]', async () => {
    const [a, b] = [await open('ann'), await open('ben')];
    await a.commit([insert('rooms', ['inn', 1n], { name: null }), insert('rooms', ['barn', 1n], { name: null })]);
    await a.commit([insert('stays', 's', { house: 'inn', number: 1n })]);
    b.site.write([remove('rooms', ['inn', 1n])], { base: 1 });
    b.push();
    await b.decided(1);
    expect(deliveredRows(await a.delivery(), 'stays')).toEqual([
      { kind: 'update', key: ['s'], cells: cells({ house: null, number: null }) },
    ]);
    a.site.write([update('stays', 's', { house: 'barn' })]);
    a.push(3);
    const whole = { kind: 'insert', key: ['s'], cells: cells({ house: 'barn', number: 1n }) };
    expect(deliveredRows(await a.decided(3), 'stays')).toEqual([whole]);
    expect(deliveredRows(await b.delivery(), 'stays')).toEqual([whole]);
    expect(inRooms.server.query('SELECT house, number FROM stays')).toEqual([['barn', 1n]]);
    // The number has returned, so only the house is lost.
    expect(inRooms.server.query('SELECT column_name, lost_value FROM rockpool_conflict')).toEqual([['house', 'inn']]);
  });
});

describe('a reference by a BLOB key under ON DELETE SET NULL', () => {
  const houses = table('houses', [column('id', 'blob', { notNull: true }), column('name', 'text')]);
  const guests = table('guests', [column('id', 'text', { notNull: true }), column('house_id', 'blob')], {
    foreignKeys: [
      {
        columns: ['house_id'],
        foreignTable: 'houses',
        foreignColumns: ['id'],
        onDelete: 'set null',
        onUpdate: 'no action',
      },
    ],
  });
  const schema = buildSchema([houses, guests]);
  const inHouses = serverUnderTest({ schema });

  async function open(principal: string): Promise<TestConnection> {
    const connection = await inHouses.server.connect();
    connection.hello(await inHouses.server.token('editor', principal), DATABASE, { schemaHash: schema.hash });
    connection.site.logEpoch = (await connection.next('welcome')).logEpoch;
    await connection.delivery();
    return connection;
  }

  it('returns with a parent inserted by an author who had not seen the NULL [MR-80]', async () => {
    const [a, b] = [await open('ann'), await open('ben')];
    const inn = Uint8Array.of(1, 2, 3);
    await a.commit([insert('houses', inn, { name: 'inn' })]);
    await a.commit([insert('guests', 'g', { house_id: inn })]);
    await a.commit([remove('houses', inn)]);
    expect(inHouses.server.query('SELECT house_id FROM guests')).toEqual([[null]]);
    b.site.write([insert('houses', inn, { name: 'again' })], { base: 0 });
    b.push();
    expect((await b.decided(1)).outcomes).toMatchObject([{ kind: 'admitted' }]);
    expect(inHouses.server.query('SELECT house_id FROM guests')).toEqual([[inn]]);
    expect(inHouses.server.query('SELECT count(*) FROM rockpool_nulled_reference')).toEqual([[0n]]);
  });
});
