import { statSync } from 'node:fs';
import { join } from 'node:path';
import { defineSchema } from '#client/schema/index.ts';
import { ClientsOfServer, shows } from '#kit/clients-of-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, expect, it } from 'vitest';

const page = sqliteTable('page', { id: text().primaryKey(), content: text() });
const world = new ClientsOfServer({
  schema: defineSchema(
    { page },
    { history: [page], merge: [{ table: page, documents: [{ column: page.content, maxLength: 2 ** 21 }] }] },
  ),
});
afterEach(() => world.stop());

it('the file of a server does not reserve space for a second copy of a document that is edited', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const path = join(dataDir, 'databases', 'db-budget.sqlite');
  const items = Array.from({ length: 4_000 }, (_, n) => ({ id: `item ${n}`, text: `the text of item ${n}` }));
  const content = JSON.stringify({ items });
  const after = async (
    rows: number,
    ...statements: readonly (readonly [sql: string, ...params: string[]])[]
  ): Promise<number> => {
    await world.start({ dataDir });
    const client = await world.open();
    if (rows > 0) await shows(client, 'SELECT count(*) FROM page', rows);
    for (const [sql, ...params] of statements) await client.execute(sql, params).synced;
    await world.stop();
    return statSync(path).size;
  };
  const one = await after(0, [`INSERT INTO page VALUES ('p', ?)`, content]);
  const edits = Array.from({ length: 6 }, (_, n): readonly [string] => [
    `UPDATE page SET content = json_set(content, '$.items[${n * 7}].text', 'another')`,
  ]);
  const many = await after(1, ...edits);
  expect(one).toBeGreaterThan(content.length * 2);
  // What is left is the app's own column.
  expect(many / one).toBeLessThan(1.4);
});
