import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import { atLevel } from '../../../tests/kit/level.ts';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import type { PersistenceChoice } from './rpc/persistence.ts';
import { backupDatabase, createClient, deleteDatabase, listDatabases, restoreDatabase, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName } from '../testing/browser-tabs.ts';

const note = sqliteTable('note', { id: text().primaryKey(), body: text() });
const schema = defineSchema({ note });

const open: Client[] = [];
async function openClient(options: Partial<ClientOptions> & { readonly name: string }): Promise<Client> {
  const client = await createClient({ schema, ...options });
  open.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const bodies = async (client: Client): Promise<unknown[]> =>
  (await client.query<{ body: string }>('SELECT body FROM note ORDER BY body')).map(({ body }) => body);
const isThere = async (name: string): Promise<boolean> =>
  (await listDatabases()).some((info) => info.name === name && info.sizeBytes > 0);

describe.each<PersistenceChoice>(['opfs', 'indexeddb'])('databases of a device, %s', (persistence) => {
  it('are listed, and can be deleted once no tab has them open', async () => {
    const name = freshName();
    const client = await openClient({ name, persistence });
    await client.execute(sql`INSERT INTO note VALUES ('a', 'x')`);
    expect(await isThere(name)).toBe(true);
    await expect(deleteDatabase(name)).rejects.toMatchObject({ code: 'storage-busy' });
    await client.close();
    await deleteDatabase(name);
    expect(await isThere(name)).toBe(false);
    await deleteDatabase(name);
    expect(await bodies(await openClient({ name, persistence }))).toEqual([]);
  });

  it('can be backed up as a file, and restored under any name', async () => {
    const name = freshName();
    const client = await openClient({ name, persistence });
    await client.execute(sql`INSERT INTO note VALUES ('a', 'kept')`);
    await client.close();
    const file = await backupDatabase(name);
    expect(await file.slice(0, 15).text()).toBe('SQLite format 3');
    const copy = freshName();
    await restoreDatabase(copy, file, { persistence });
    const restored = await openClient({ name: copy, persistence });
    expect(await bodies(restored)).toEqual(['kept']);
    expect(await restored.query("SELECT value FROM rockpool_meta WHERE key = 'is_restored'")).toEqual([{ value: 1 }]);
    await expect(restoreDatabase(copy, file, { persistence })).rejects.toMatchObject({ code: 'storage-busy' });
  });

  it('are not replaced if the file to restore is not a Rockpool database', async () => {
    const name = freshName();
    const client = await openClient({ name, persistence });
    await client.execute(sql`INSERT INTO note VALUES ('a', 'kept')`);
    await client.close();
    await expect(restoreDatabase(name, new Blob(['no database at all']), { persistence })).rejects.toMatchObject({
      code: 'storage-corrupt',
    });
    expect(await bodies(await openClient({ name, persistence }))).toEqual(['kept']);
  });

  it('can be left only if every change was sent, or with discardUnsent', async () => {
    const name = freshName();
    const client = await openClient({ name, persistence });
    await client.execute(sql`INSERT INTO note VALUES ('a', 'unsent')`);
    await expect(client.leave()).rejects.toMatchObject({
      code: 'changes-unsent',
      fields: { pendingCount: 1, rejectedCount: 0 },
    });
    expect(await bodies(client)).toEqual(['unsent']);
    await client.leave({ discardUnsent: true });
    expect(await isThere(name)).toBe(false);
    await expect(client.query('SELECT 1')).rejects.toMatchObject({ code: 'client-closed' });
  });
});

it.each(atLevel({ test: ['opfs'], verify: ['opfs', 'indexeddb'] } as const))(
  'a client in memory does not touch the database with the same name in %s',
  async (persistence) => {
    const name = freshName();
    const durable = await openClient({ name, persistence });
    await durable.execute(sql`INSERT INTO note VALUES ('a', 'unsent')`);
    await durable.close();
    const client = await openClient({ name, persistence: 'memory' });
    await (await client.branch('trial')).discard();
    await client.leave();
    expect(await bodies(await openClient({ name, persistence }))).toEqual(['unsent']);
  },
);

// Where followers read through the leader, one medium is enough.
describe.each(atLevel({ test: ['opfs', 'indexeddb'], verify: ['opfs', 'opfs-exclusive', 'indexeddb'] } as const))(
  'a client in use, on %s',
  (persistence) => {
    it('can be backed up by the leader and by a follower during writes', async () => {
      const name = freshName();
      const leader = await openClient({ name, persistence });
      const follower = await openClient({ name, persistence });
      await leader.execute(sql`INSERT INTO note VALUES ('a', 'x')`);
      for (const client of [leader, follower]) {
        const [file] = await leader.transaction(async (tx) => {
          await tx.execute(sql`UPDATE note SET body = 'not yet'`);
          return [await client.backup()];
        });
        const copy = freshName();
        await restoreDatabase(copy, file!, { persistence });
        expect(await bodies(await openClient({ name: copy, persistence }))).toEqual(['x']);
        await leader.execute(sql`UPDATE note SET body = 'x'`);
      }
    });
  },
);
