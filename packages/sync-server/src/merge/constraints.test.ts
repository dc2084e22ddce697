import { buildSchema, columnIdOf, CONFLICT_TABLE, tableIdOf } from '@rockpool/shared';
import type { CellValue } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert, remove, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { column, table } from '../../testing/test-schema.ts';

const tested = serverUnderTest();

const rows = (sql: string): readonly (readonly CellValue[])[] => tested.server.query(sql);

describe('a changeset that breaks a constraint', () => {
  it('is rejected as a whole for UNIQUE, with an error that names columns and no value [MR-57]', async () => {
    const a = await tested.server.open();
    await a.commit([insert('accounts', 'x', { name: 'secret' })]);
    const outcome = await a.commit([
      insert('entries', 'e', { amount: 1n }),
      insert('accounts', 'y', { name: 'secret' }),
    ]);
    expect(outcome).toEqual({
      kind: 'rejected',
      sequence: 2,
      code: 'constraint-unique',
      fields: { table: 'accounts', columns: 'name' },
    });
    expect(rows('SELECT id FROM entries')).toEqual([]);
    expect(rows('SELECT count(*) FROM rockpool_row_version')).toEqual([[1n]]);
    expect(rows('SELECT max(watermark) FROM rockpool_log')).toEqual([[1n]]);
  });

  it('is rejected with the name of the CHECK [MR-57]', async () => {
    const a = await tested.server.open();
    expect(await a.commit([insert('entries', 'e', { amount: 1_000_000n })])).toMatchObject({
      code: 'constraint-check',
      fields: { table: 'entries', constraint: 'amount_bounded' },
    });
  });

  it('is rejected for NOT NULL, on insert and on update [MR-57]', async () => {
    const a = await tested.server.open();
    expect(await a.commit([insert('accounts', 'x', {})])).toMatchObject({
      code: 'constraint-not-null',
      fields: { table: 'accounts', columns: 'name' },
    });
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    expect(await a.commit([update('accounts', 'x', { name: null })])).toMatchObject({ code: 'constraint-not-null' });
  });

  it('is rejected for FOREIGN KEY if the parent is missing [MR-57]', async () => {
    const a = await tested.server.open();
    const fields = { table: 'entries', columns: 'account_id', foreignTable: 'accounts' };
    expect(await a.commit([insert('entries', 'e', { account_id: 'gone', amount: 1n })])).toMatchObject({
      code: 'constraint-foreign-key',
      fields,
    });
    await a.commit([insert('entries', 'e', { amount: 1n })]);
    expect(await a.commit([update('entries', 'e', { account_id: 'gone' })])).toMatchObject({
      code: 'constraint-foreign-key',
      fields,
    });
  });

  it('is rejected for FOREIGN KEY if it would orphan another author’s child', async () => {
    const a = await tested.server.open();
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    const b = await tested.server.open();
    a.site.write([remove('accounts', 'x')]);
    await b.commit([insert('limits', 'l', { account_id: 'x' })]);
    a.push();
    const { outcomes } = await a.decided(2);
    expect(outcomes).toMatchObject([{ code: 'constraint-foreign-key', fields: { table: 'limits' } }]);
    expect(rows('SELECT id FROM accounts')).toEqual([['x']]);
  });
});

describe('a changeset that breaks a constraint only between its rows', () => {
  it('may insert and delete a child and its parent in any order [MR-60]', async () => {
    const a = await tested.server.open();
    expect(
      await a.commit([insert('entries', 'e', { account_id: 'x', amount: 1n }), insert('accounts', 'x', { name: 'x' })]),
    ).toMatchObject({ kind: 'admitted' });
    expect(await a.commit([remove('accounts', 'x'), remove('entries', 'e')])).toMatchObject({ kind: 'admitted' });
  });

  it('may swap unique values, even in a ring [MR-60]', async () => {
    const a = await tested.server.open();
    await a.commit([
      insert('accounts', 'x', { name: '1', rank: 1n }),
      insert('accounts', 'y', { name: '2', rank: 2n }),
      insert('accounts', 'z', { name: '3' }),
    ]);
    const outcome = await a.commit([
      update('accounts', 'x', { name: '2' }),
      update('accounts', 'y', { name: '3' }),
      update('accounts', 'z', { name: '1' }),
    ]);
    expect(outcome).toMatchObject({ kind: 'admitted' });
    expect(rows('SELECT id, name, rank FROM accounts ORDER BY id')).toEqual([
      ['x', '2', 1n],
      ['y', '3', 2n],
      ['z', '1', null],
    ]);
  });

  it('may give the unique value of a deleted row to another row', async () => {
    const a = await tested.server.open();
    await a.commit([insert('accounts', 'x', { name: '1' })]);
    expect(await a.commit([insert('accounts', 'y', { name: '1' }), remove('accounts', 'x')])).toMatchObject({
      kind: 'admitted',
    });
  });
});

describe('a changeset after a rejected one', () => {
  it('is admitted unless it depends on the rejected one [MR-61]', async () => {
    const a = await tested.server.open();
    await a.commit([insert('accounts', 'x', { name: 'taken' })]);
    a.site.write([insert('accounts', 'y', { name: 'taken' })]);
    a.site.write([insert('entries', 'e', { account_id: 'y', amount: 1n })]);
    a.site.write([insert('entries', 'f', { account_id: 'x', amount: 1n })]);
    a.push();
    const { outcomes } = await a.decided(4);
    expect(outcomes).toMatchObject([
      { code: 'constraint-unique' },
      { code: 'constraint-foreign-key' },
      { kind: 'admitted' },
    ]);
    expect(rows('SELECT id FROM entries')).toEqual([['f']]);
  });

  it('is decided on its own, and its author receives the name of the missing row', async () => {
    const a = await tested.server.open();
    await a.commit([insert('accounts', 'x', { name: 'taken' })]);
    a.site.write([insert('accounts', 'y', { name: 'taken' })]);
    a.site.write([update('accounts', 'y', { rank: 5n })]);
    a.push(2, 3);
    const { outcomes, groups } = await a.decided(3);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['rejected', 'admitted']);
    expect(groups.find(({ tableId }) => tableId === tableIdOf('accounts'))).toMatchObject({
      kind: 'delete',
      keys: [['y']],
    });
    // The update has no row to change, and is in the conflict log.
    const conflictLog = groups.find(({ tableId }) => tableId === CONFLICT_TABLE.id);
    expect(conflictLog).toMatchObject({ kind: 'insert', rowCount: 1 });
    expect(conflictLog?.values[conflictLog.columnIds.indexOf(columnIdOf('lost_value'))]).toEqual([5n]);
  });
});

describe('a CHECK whose expression fails', () => {
  const facts = table('facts', [column('id', 'text', { notNull: true }), column('body', 'text')], {
    checks: [{ name: 'is_json', sql: 'json(body) IS NOT NULL' }],
  });
  const schema = buildSchema([facts]);
  const ofFacts = serverUnderTest({ schema });

  it('rejects the changeset like one that is false [MR-57]', async () => {
    const a = await ofFacts.server.connect();
    a.hello(await ofFacts.server.token(), DATABASE, { schemaHash: schema.hash });
    a.site.logEpoch = (await a.next('welcome')).logEpoch;
    await a.delivery();
    expect(await a.commit([insert('facts', 'f', { body: '{' })])).toMatchObject({
      kind: 'rejected',
      code: 'constraint-check',
      fields: { table: 'facts', constraint: '' },
    });
    expect(await a.commit([insert('facts', 'f', { body: '{}' })])).toMatchObject({ kind: 'admitted' });
  });
});
