import { createClient } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { blob, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { expect, it } from 'vitest';

const item = sqliteTable('item', { id: text().primaryKey(), bytes: blob({ mode: 'buffer' }) });
const schema = defineSchema({ item });
const INSERT = 'INSERT INTO item VALUES (?, ?)';

it('a write stores the values of the moment when it was called, also if their array and buffer are reused', async () => {
  const client = await createClient({ name: 'items', schema });
  const bytes = new Uint8Array(1);
  const params: [string, Uint8Array] = ['', bytes];
  const reused = (id: string): typeof params => {
    params[0] = id;
    bytes[0] = id.charCodeAt(0);
    return params;
  };
  const writes: Promise<unknown>[] = [
    client.execute(INSERT, reused('a')),
    client.execute({ sql: INSERT, params: reused('b') }),
    client.batch([{ sql: INSERT, params: reused('c') }]),
  ];
  reused('x');
  await Promise.all(writes);
  await client.transaction(async (tx) => {
    // A write outside of the transaction waits for its end.
    await tx.query('SELECT 1');
    writes.push(client.execute(INSERT, reused('d')), client.batch([{ sql: INSERT, params: reused('e') }]));
    const step = tx.execute(INSERT, reused('f'));
    reused('x');
    await step;
  });
  await Promise.all(writes);
  expect(await client.query('SELECT id, bytes FROM item ORDER BY id')).toEqual(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, bytes: new Uint8Array([id.charCodeAt(0)]) })),
  );
  await client.close();
});
