import { commands } from 'vitest/browser';
import { encodeSchema } from '@rockpool/shared';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, expect, inject, it } from 'vitest';
import { level } from '../../../tests/kit/level.ts';
import type { Client } from './client.ts';
import type { ClientOptions, SyncOptions } from './interface/client-options.ts';
import { createClient } from './create-client.ts';
import { backupDatabase, deleteDatabase, restoreDatabase } from './databases.ts';
import { defineSchema } from './schema/define-schema.ts';
import { sql } from './tab/sql.ts';
import { freshName, openTab, until, type BrowserTab } from '../testing/browser-tabs.ts';
import { describeBinding } from '../testing/binding.contract.ts';

const usable = inject('usableMedia');
const sync = (schemaJson: string, databaseId: string): Promise<{ readonly url: string; readonly token: string }> =>
  commands.accessToSyncServer(schemaJson, databaseId, location.origin);

// Exclusive OPFS stores the same files as shared OPFS.
const tested = level === 'test' ? usable.filter((medium) => medium !== 'opfs-exclusive') : usable;
for (const medium of tested)
  describeBinding(medium, {
    createClient,
    sync,
    persistence: medium === 'opfs-shared' ? 'opfs' : medium,
    extent: level === 'test' && medium !== usable[0] ? 'differences' : 'whole',
  });

const schema = defineSchema({ note: sqliteTable('note', { id: text().primaryKey() }) });
const clients: Client[] = [];
const tabs: BrowserTab[] = [];

async function open(options: Partial<ClientOptions> & { readonly name: string }): Promise<Client> {
  const client = await createClient({ schema, ...options });
  clients.push(client);
  return client;
}

async function syncWith(databaseId: string): Promise<SyncOptions> {
  const { url, token } = await sync(encodeSchema(schema), databaseId);
  return { url, databaseId, token: () => token };
}

const idsIn = async (client: Client): Promise<string[]> =>
  (await client.query<{ id: string }>('SELECT id FROM note ORDER BY id')).map(({ id }) => id);

async function rowsOnServer(databaseId: string): Promise<string[]> {
  const fresh = await open({ name: freshName(), sync: await syncWith(databaseId) });
  await until(() => fresh.status.current.state === 'up-to-date');
  return idsIn(fresh);
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const tab of tabs.splice(0)) tab.kill();
});

it('opening a database for a different server database fails while a page has it open, and that page keeps working', async () => {
  const [name, team, team2] = [freshName(), `team-${freshName()}`, `team2-${freshName()}`];
  const first = await open({ name, sync: await syncWith(team) });
  await first.execute(sql`INSERT INTO note VALUES ('of team')`).synced;
  const [mine, theirs] = [await syncWith(team), await syncWith(team2)];
  await expect(openTab({ name, schema, sync: theirs })).rejects.toMatchObject({
    code: 'database-mismatch',
    fields: { belongsTo: team, asked: team2 },
  });
  const second = await openTab({ name, schema, sync: mine });
  tabs.push(second);
  await second.client.execute("INSERT INTO note VALUES ('of the second page')").synced;
  expect(await rowsOnServer(team)).toEqual(['of team', 'of the second page']);
  expect(await rowsOnServer(team2)).toEqual([]);
});

it('a restored backup stays bound to its server database under any name', async () => {
  const [name, copy, team, team2] = [freshName(), freshName(), `team-${freshName()}`, `team2-${freshName()}`];
  const client = await open({ name, sync: await syncWith(team) });
  await client.execute(sql`INSERT INTO note VALUES ('of team')`).synced;
  await client.execute(sql`INSERT INTO note VALUES ('more of team')`);
  await client.close();
  clients.length = 0;
  await restoreDatabase(copy, await backupDatabase(name));
  await expect(open({ name: copy, sync: await syncWith(team2) })).rejects.toMatchObject({
    code: 'database-mismatch',
    fields: { belongsTo: team, asked: team2 },
  });
  const restored = await open({ name: copy, sync: await syncWith(team) });
  await until(() => restored.status.current.state === 'up-to-date');
  expect(await rowsOnServer(team)).toEqual(['more of team', 'of team']);
  expect(await rowsOnServer(team2)).toEqual([]);
  await restored.close();
  clients.splice(clients.indexOf(restored), 1);
  await deleteDatabase(copy);
});

it('opening a database with a different durability fails while another tab has it open', async () => {
  for (const [first, second] of [
    ['relaxed', 'strict'],
    ['strict', 'relaxed'],
  ] as const) {
    const name = freshName();
    await open({ name, durability: first });
    await expect(open({ name, durability: second })).rejects.toMatchObject({
      code: 'tab-options-differ',
      fields: { option: 'durability' },
    });
  }
});
