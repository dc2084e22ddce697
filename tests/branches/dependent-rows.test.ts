import type { Branch, Client } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import {
  sqliteTable,
  text,
  type AnySQLiteColumn,
} from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const account = sqliteTable('account', { id: text().primaryKey() });
const entry = sqliteTable('entry', {
  id: text().primaryKey(),
  account: text().references((): AnySQLiteColumn => account.id, { onDelete: 'cascade' }),
  note: text(),
});
const part = sqliteTable('part', {
  id: text().primaryKey(),
  entry: text().references((): AnySQLiteColumn => entry.id, { onDelete: 'cascade' }),
});
const tag = sqliteTable('tag', {
  id: text().primaryKey(),
  account: text().references((): AnySQLiteColumn => account.id, { onDelete: 'set null' }),
});
const schema = defineSchema({ account, entry, part, tag });

let client: Client;
let branch: Branch;
const clients: Client[] = [];

beforeEach(async () => {
  client = await createDevice().createClient({ name: 'budget', schema });
  clients.push(client);
  await client.execute("INSERT INTO account VALUES ('a'), ('b')");
  await client.execute("INSERT INTO entry VALUES ('e', 'a', 'market')");
  branch = await client.branch('what if');
  clients.push(branch);
  await branch.execute("DELETE FROM account WHERE id = 'a'");
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((opened) => opened.close()));
});

const idsOf = async (table: string): Promise<unknown[]> =>
  (await client.query(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => id);
const names = (branchRows: readonly { readonly table: string; readonly key: readonly unknown[] }[]): string[] =>
  branchRows.map(({ table, key }) => `${table} ${String(key[0])}`).sort();
const ASKS = { kind: 'deleted-in-branch', table: 'account', key: ['a'] };

describe('a delete in a branch', () => {
  it('is not a conflict if it affects only rows that the branch had', async () => {
    expect(await branch.preview()).toMatchObject({ rows: [{ kind: 'delete' }, { kind: 'delete' }], conflicts: [] });
    await branch.merge();
    expect(await idsOf('entry')).toEqual([]);
  });

  it('is a conflict that lists the affected rows, if the origin has added rows that depend on it', async () => {
    await client.execute("INSERT INTO entry VALUES ('f', 'a', 'new'), ('g', 'b', 'other')");
    await client.execute("INSERT INTO part VALUES ('p', 'f')");
    const { rows, conflicts } = await branch.preview();
    expect(conflicts).toMatchObject([ASKS]);
    expect(names(rows)).toEqual(['account a', 'entry e', 'entry f', 'part p']);
    await expect(branch.merge()).rejects.toMatchObject({ code: 'branch-conflicts', fields: { count: 1 } });
    expect(names((await branch.merge({ conflicts: 'branch' })).rows)).toEqual(names(rows));
    expect([await idsOf('account'), await idsOf('entry'), await idsOf('part')]).toEqual([['b'], ['g'], []]);
  });

  it('is not executed if the app keeps rows that the origin added', async () => {
    await client.execute("INSERT INTO entry VALUES ('f', 'a', 'new')");
    await branch.merge({ conflicts: 'origin' });
    // The branch's delete of 'e' was not a conflict.
    expect([await idsOf('account'), await idsOf('entry')]).toEqual([['a', 'b'], ['f']]);
  });

  it('is not executed if the app keeps a row that references the deleted one', async () => {
    await client.execute("UPDATE entry SET note = 'changed' WHERE id = 'e'");
    const { rows, conflicts } = await branch.merge({ conflicts: 'origin' });
    expect(conflicts).toMatchObject([{ kind: 'deleted-in-branch', table: 'entry', key: ['e'] }]);
    expect(rows).toEqual([]);
    expect([await idsOf('account'), await idsOf('entry')]).toEqual([['a', 'b'], ['e']]);
  });

  it('keeps every ancestor of a row that the app keeps', async () => {
    await client.execute("INSERT INTO part VALUES ('p', 'e')");
    const { conflicts } = await branch.merge({ conflicts: 'origin' });
    expect(conflicts).toMatchObject([{ table: 'entry', key: ['e'] }]);
    expect([await idsOf('account'), await idsOf('entry'), await idsOf('part')]).toEqual([['a', 'b'], ['e'], ['p']]);
  });

  it('reports rows whose reference becomes NULL', async () => {
    await client.execute("INSERT INTO tag VALUES ('t', 'a')");
    const { rows, conflicts } = await branch.merge({ conflicts: 'branch' });
    expect(conflicts).toMatchObject([ASKS]);
    expect(rows).toContainEqual({
      table: 'tag',
      key: ['t'],
      kind: 'update',
      changes: [{ column: 'account', before: 'a', after: null, operations: null }],
    });
    expect(await client.query('SELECT * FROM tag')).toEqual([{ id: 't', account: null }]);
  });

  it('does not affect rows that the branch moved to another parent', async () => {
    await branch.execute("INSERT INTO entry VALUES ('e', 'b', 'moved')");
    await client.execute("UPDATE entry SET note = 'market' WHERE id = 'e'");
    expect((await branch.merge()).conflicts).toEqual([]);
    expect(await client.query('SELECT * FROM entry')).toEqual([{ id: 'e', account: 'b', note: 'moved' }]);
  });
});
