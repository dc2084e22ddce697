import type { Branch, Client } from '#client/index.ts';
import { createDevice, type Device } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const account = sqliteTable('account', {
  id: text().primaryKey(),
  name: text().unique(),
  entries: integer().notNull(),
});
const entry = sqliteTable('entry', { id: text().primaryKey(), account: text().notNull() });
const schema = defineSchema({ account, entry }, { merge: [{ table: account, counters: [account.entries] }] });

let device: Device;
let client: Client;
const clients: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  device = createDevice();
  client = await device.createClient({ name: 'budget', schema });
  clients.push(client);
  await client.execute("INSERT INTO account VALUES ('a', 'x', 0), ('b', 'y', 0)");
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((opened) => opened.close()));
});

async function begin(): Promise<Branch> {
  const branch = await client.branch('what if');
  clients.push(branch);
  return branch;
}

describe('a merge', () => {
  it('runs no triggers, because its changes already include the triggers’ writes', async () => {
    await client.execute(
      'CREATE TRIGGER count AFTER INSERT ON entry BEGIN UPDATE account SET entries = entries + 1 WHERE id = new.account; END',
    );
    const branch = await begin();
    await branch.execute("INSERT INTO entry VALUES ('e', 'a')");
    await client.execute("INSERT INTO entry VALUES ('f', 'a')");
    await branch.merge();
    expect(await client.query("SELECT entries FROM account WHERE id = 'a'")).toEqual([{ entries: 2 }]);
    await client.execute("INSERT INTO entry VALUES ('g', 'a')");
    expect(await client.query("SELECT entries FROM account WHERE id = 'a'")).toEqual([{ entries: 3 }]);
  });

  it('leaves triggers enabled if it fails', async () => {
    const branch = await begin();
    await branch.execute("INSERT INTO account VALUES ('c', 'z', 0)");
    await client.execute("INSERT INTO account VALUES ('d', 'z', 0)");
    await client.execute(
      'CREATE TRIGGER count AFTER INSERT ON entry BEGIN UPDATE account SET entries = entries + 1 WHERE id = new.account; END',
    );
    await expect(branch.merge()).rejects.toMatchObject({ code: 'constraint-unique' });
    await client.execute("INSERT INTO entry VALUES ('g', 'a')");
    expect(await client.query("SELECT entries FROM account WHERE id = 'a'")).toEqual([{ entries: 1 }]);
  });

  it('swaps unique values between rows', async () => {
    const branch = await begin();
    await branch.execute("UPDATE account SET name = 'z' WHERE id = 'a'");
    await branch.execute("UPDATE account SET name = 'x' WHERE id = 'b'");
    await branch.execute("UPDATE account SET name = 'y' WHERE id = 'a'");
    await branch.merge();
    expect(await client.query('SELECT id, name FROM account ORDER BY id')).toEqual([
      { id: 'a', name: 'y' },
      { id: 'b', name: 'x' },
    ]);
  });
});
