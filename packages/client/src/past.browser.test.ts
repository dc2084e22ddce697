import { commands } from 'vitest/browser';
import { encodeSchema } from '@rockpool/shared';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { atLevel } from '../../../tests/kit/level.ts';
import { afterEach, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { createClient } from './create-client.ts';
import { defineSchema } from './schema/define-schema.ts';
import { freshName } from '../testing/browser-tabs.ts';

const entry = sqliteTable('entry', { id: text().primaryKey(), amount: integer().notNull() });
const schema = defineSchema({ entry }, { history: [entry] });
const clients: Client[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function open(name: string, persistence: 'opfs' | 'opfs-exclusive' | 'indexeddb'): Promise<Client> {
  const { url, token } = await commands.accessToSyncServer(encodeSchema(schema), name, location.origin);
  const client = await createClient({
    name,
    schema,
    persistence,
    sync: { url, databaseId: name, token: () => token },
  });
  clients.push(client);
  return client;
}

// Past states are in memory.
it.each(atLevel({ test: ['opfs'], verify: ['opfs', 'opfs-exclusive', 'indexeddb'] } as const))(
  'two tabs query past states beside the current database (%s)',
  async (persistence) => {
    const name = freshName();
    const [leader, follower] = [await open(name, persistence), await open(name, persistence)];
    await leader.execute(`INSERT INTO entry VALUES ('x', 1), ('y', 2)`).synced;
    await follower.execute(`UPDATE entry SET amount = 5 WHERE id = 'x'`).synced;
    await leader.execute(`DELETE FROM entry`).synced;
    const received: number[] = [];
    for (const client of [leader, follower]) {
      const first = await client.past(
        { version: 1 },
        { onProgress: ({ receivedBytes }) => received.push(receivedBytes) },
      );
      const second = await client.past({ version: 2 });
      const total = 'SELECT sum(amount) AS total FROM entry';
      expect(await Promise.all([first.query(total), second.query(total), client.query(total)])).toEqual([
        [{ total: 3 }],
        [{ total: 7 }],
        [{ total: null }],
      ]);
      await expect(first.query(`INSERT INTO entry VALUES ('z', 3)`)).rejects.toMatchObject({ code: 'sql-read-only' });
      await first.close();
      await expect(first.query(total)).rejects.toMatchObject({ code: 'client-closed' });
      expect(await second.query(total)).toEqual([{ total: 7 }]);
    }
    expect(received.length).toBeGreaterThanOrEqual(2);
    await expect(leader.past({ version: 9 })).rejects.toMatchObject({ code: 'request-invalid' });
  },
);
