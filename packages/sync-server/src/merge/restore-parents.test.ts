import { describe, expect, it } from 'vitest';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { deliveredRows } from '../../testing/delivered-rows.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { TestConnection } from '../../testing/test-client.ts';

const tested = serverUnderTest();
const query = (sql: string): unknown => tested.server.query(sql);
const ids = (table: string): unknown => query(`SELECT id FROM ${table} ORDER BY id`);
const conflictLog = (): unknown =>
  query(
    'SELECT table_name, row_key, column_name, rule, lost_by, won_by FROM rockpool_conflict ORDER BY table_name, row_key',
  );
const LOST_DELETE = ['notes', '["n"]', null, 'update-wins', 'ann', 'ben'];

/** Ann and Ben have the note n, the sticky s below it, and the reply r below it. */
async function two(): Promise<{ a: TestConnection; b: TestConnection }> {
  const a = await tested.server.open(undefined, { principal: 'ann' });
  const b = await tested.server.open(undefined, { principal: 'ben' });
  await a.commit([
    insert('notes', 'n', { title: 'n', reads: 3n }),
    insert('notes', 'o', { title: 'o', reads: 0n }),
    insert('stickies', 's', { note_id: 'n' }),
    insert('replies', 'r', { note_id: 'n' }),
  ]);
  await b.delivery();
  return { a, b };
}

const withN = [remove('notes', 'n'), remove('stickies', 's'), remove('replies', 'r')];

/** Ann deletes the note with its children. Then Ben, who has not seen the delete, writes. */
async function late(...changes: readonly Change[]): Promise<{
  a: TestConnection;
  b: TestConnection;
  decided: Awaited<ReturnType<TestConnection['decided']>>;
}> {
  const { a, b } = await two();
  b.site.write(changes);
  await a.commit(withN);
  b.push();
  return { a, b, decided: await b.decided(1) };
}

describe('a parent under restore-parent that another author deletes', () => {
  it('is kept if the reference comes first, and the delete is in the conflict log [MR-83]', async () => {
    const { a, b } = await two();
    await b.commit([insert('stickies', 't', { note_id: 'n' })]);
    a.site.write(withN);
    a.push();
    const decided = await a.decided(2);
    expect(decided.outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
    expect([ids('notes'), ids('stickies'), ids('replies')]).toEqual([[['n'], ['o']], [['t']], []]);
    expect(conflictLog()).toEqual([LOST_DELETE]);
    expect(deliveredRows(decided, 'notes')).toMatchObject([{ kind: 'insert', key: ['n'] }]);
  });

  it('comes back with its last values for every client if the delete comes first [MR-83]', async () => {
    const { a, decided } = await late(insert('stickies', 't', { note_id: 'n' }));
    expect(decided.outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
    expect(query("SELECT title, reads FROM notes WHERE id = 'n'")).toEqual([['n', 3n]]);
    expect([ids('stickies'), ids('replies')]).toEqual([[['t']], []]);
    expect(conflictLog()).toEqual([LOST_DELETE]);
    for (const delivery of [decided, await a.delivery()])
      expect(deliveredRows(delivery, 'notes')).toMatchObject([{ kind: 'insert', key: ['n'] }]);
  });

  it('is kept for a reference that was moved away before the delete came [MR-83]', async () => {
    const { a, b } = await two();
    await b.commit([insert('stickies', 't', { note_id: 'n' })]);
    await b.commit([update('stickies', 't', { note_id: 'o' })]);
    await a.commit(withN);
    expect(ids('notes')).toEqual([['n'], ['o']]);
  });

  it('also comes back if an atomic transaction writes the child [MR-83]', async () => {
    const { a, b } = await two();
    b.site.write([insert('stickies', 't', { note_id: 'n' })], { atomic: true });
    await a.commit(withN);
    b.push();
    expect((await b.decided(1)).outcomes).toMatchObject([{ kind: 'admitted' }]);
    expect(ids('notes')).toEqual([['n'], ['o']]);
  });

  it('stays deleted, and the reference is rejected, if its author had seen the delete or it never existed [MR-85]', async () => {
    const { b } = await late(insert('stickies', 't', { note_id: 'o' }));
    b.site.write([insert('stickies', 'u', { note_id: 'n' })]);
    b.site.write([insert('stickies', 'v', { note_id: 'never' })], { base: 0 });
    b.push();
    const refused = { kind: 'rejected', code: 'constraint-foreign-key' };
    expect((await b.decided(3)).outcomes).toMatchObject([refused, refused]);
    expect(ids('notes')).toEqual([['o']]);
  });

  it('can be deleted once the deleting author has seen the references [MR-83]', async () => {
    const { a } = await late(insert('stickies', 't', { note_id: 'n' }));
    await a.delivery();
    await a.commit([remove('notes', 'n'), remove('stickies', 't')]);
    expect(ids('notes')).toEqual([['o']]);
  });
});

describe('a chain of parents under restore-parent', () => {
  it('comes back as a whole [MR-84]', async () => {
    await late(insert('replies', 't', { reply_to: 'r' }));
    expect([ids('notes'), ids('replies'), ids('stickies')]).toEqual([[['n'], ['o']], [['r'], ['t']], []]);
  });

  it('is kept as a whole if the reference comes first [MR-84]', async () => {
    const { a, b } = await two();
    await b.commit([insert('replies', 't', { reply_to: 'r' })]);
    await a.commit(withN);
    expect([ids('notes'), ids('replies'), ids('stickies')]).toEqual([[['n'], ['o']], [['r'], ['t']], []]);
    expect(conflictLog()).toEqual([LOST_DELETE, ['replies', '["r"]', null, 'update-wins', 'ann', 'ben']]);
  });

  it.each(['first', 'second'])(
    'comes back with a row that an update revives, if the delete comes %s [MR-84]',
    async (when) => {
      const { a, b } = await two();
      b.site.write([update('replies', 'r', { body: 'more' })]);
      if (when === 'first') await a.commit(withN);
      b.push();
      await b.decided(1);
      if (when === 'second') {
        a.site.write(withN, { base: 1 });
        a.push();
        await a.decided(2);
      }
      expect([ids('notes'), ids('replies'), ids('stickies')]).toEqual([[['n'], ['o']], [['r']], []]);
    },
  );
});
