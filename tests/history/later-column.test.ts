import { join } from 'node:path';
import type { Client } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { ClientsOfServer } from '#kit/clients-of-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const columns = { id: text().primaryKey(), amount: integer().notNull(), details: text() };
const former = sqliteTable('entry', columns);
const before = defineSchema({ entry: former }, { history: [former] });
const entry = sqliteTable('entry', { ...columns, state: text().notNull().default('open'), notes: text() });
const after = defineSchema(
  { entry },
  { history: [entry], merge: [{ table: entry, documents: [{ column: entry.notes, text: ['body'] }] }] },
);

const world = new ClientsOfServer({ schema: after });
let client: Client;

beforeEach(async () => {
  const dataDir = join(temporaryFolder(), 'data');
  world.nowMs = Date.now();
  await world.start({ dataDir, schema: before });
  const device = createDevice();
  const old = await world.open({ device, schema: before });
  await old.execute("INSERT INTO entry VALUES ('x', 1, 'a'), ('y', 1, 'b')").synced;
  await old.execute("UPDATE entry SET amount = 2 WHERE id = 'x'").synced;
  await old.execute("DELETE FROM entry WHERE id = 'y'").synced;
  await world.stop();
  await world.start({ dataDir });
  client = await world.open({ device });
  await client.execute(`UPDATE entry SET state = 'done', notes = '{"body":"new"}' WHERE id = 'x'`).synced;
});
afterEach(() => world.stop());

const rows = (): Promise<unknown[]> => client.query('SELECT id, amount, details, state FROM entry ORDER BY id');

describe('a column that was added after a version', () => {
  it('is reported with the version, and is missing from its row', async () => {
    const history = await client.history('entry', 'x');
    const { versions } = await history.page();
    expect(versions.map(({ laterColumns }) => laterColumns)).toEqual([[], ['state', 'notes'], ['state', 'notes']]);
    expect(versions.at(-1)?.changes.map(({ column }) => column)).toEqual(['amount', 'details']);
    expect(await history.at(1)).toEqual({ id: 'x', amount: 1, details: 'a' });
    expect(await history.at(4)).toMatchObject({ amount: 2, state: 'done' });
    const document = history.document('notes');
    expect((await document.page()).versions.map(({ version }) => version)).toEqual([4]);
    expect(await document.at(1)).toBeNull();
    await expect(document.restore(1)).rejects.toMatchObject({ code: 'document-gone' });
  });

  it('keeps its value if the row is restored, and cannot be restored by name', async () => {
    const history = await client.history('entry', 'x');
    await history.restore(1);
    expect(await rows()).toEqual([{ id: 'x', amount: 1, details: 'a', state: 'done' }]);
    await expect(history.restore(2, { columns: ['amount', 'state'] })).rejects.toMatchObject({
      code: 'history-version-gone',
      fields: { table: 'entry', column: 'state' },
    });
    await expect(history.restore(2, { columns: ['none'] })).rejects.toMatchObject({ code: 'schema-unknown-column' });
    await history.restore(2, { columns: ['amount'] });
    expect(await rows()).toEqual([{ id: 'x', amount: 2, details: 'a', state: 'done' }]);
  });

  it('has its default in a restored row that was deleted before', async () => {
    await (await client.history('entry', 'y')).restore(1);
    expect(await rows()).toMatchObject([{ id: 'x' }, { id: 'y', details: 'b', state: 'open' }]);
    await client.execute("DELETE FROM entry WHERE id = 'y'").synced;
    await (await client.planRestore({ version: 3 })).apply();
    expect(await rows()).toMatchObject([{ id: 'x' }, { id: 'y', details: 'b', state: 'open' }]);
  });

  it('is reported with a past state, on which the app’s current queries run', async () => {
    const past = await client.past({ version: 2 });
    expect(past.laterColumns).toEqual([
      { table: 'entry', column: 'notes' },
      { table: 'entry', column: 'state' },
    ]);
    expect(await past.query('SELECT id, amount, state FROM entry ORDER BY id')).toEqual([
      { id: 'x', amount: 2, state: 'open' },
      { id: 'y', amount: 1, state: 'open' },
    ]);
    expect((await client.past({ version: 4 })).laterColumns).toEqual([]);
  });
});
