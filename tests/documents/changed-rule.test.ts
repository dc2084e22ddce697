import { join } from 'node:path';
import { createDevice } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { ClientsOfServer } from '#kit/clients-of-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, expect, it } from 'vitest';

const page = sqliteTable('page', { id: text().primaryKey(), content: text() });
const schemaWith = (texts: readonly string[]) =>
  defineSchema({ page }, { merge: [{ table: page, documents: [{ column: page.content, text: texts }] }] });
const before = schemaWith([]);
const after = schemaWith(['body']);
const migrations = {
  journal: { entries: [{ idx: 0, tag: '0000_first' }] },
  migrations: { m0000: 'CREATE TABLE `page` (`id` text PRIMARY KEY NOT NULL, `content` text)' },
};

const world = new ClientsOfServer({ schema: after });
afterEach(() => world.stop());

it.each(['before', 'after'] as const)(
  'an edit made offline %s an update of the app that changes the rule of the document is kept [MR-28]',
  async (when) => {
    const dataDir = join(temporaryFolder(), 'data');
    world.nowMs = Date.now();
    await world.start({ dataDir, schema: before });
    const device = createDevice();
    const old = await world.open({ device, schema: before, migrations });
    if (when === 'before') await old.sync.pause();
    const inserted = old.execute(`INSERT INTO page VALUES ('p', '{"body":"low tide","n":1}')`);
    await (when === 'before' ? inserted : inserted.synced);
    if (when === 'before') await old.execute(`UPDATE page SET content = json_set(content, '$.n', 2)`);
    else await old.sync.pause();
    await old.close();
    await world.stop();
    await world.start({ dataDir });
    const client = await world.open({ device, migrations });
    await client.execute(`UPDATE page SET content = json_set(content, '$.body', 'low spring tide')`);
    await client.sync.resume();
    await client.sync.upToDate();
    const other = await world.open({ migrations });
    await other.sync.upToDate();
    const content = `{"body":"low spring tide","n":${when === 'before' ? 2 : 1}}`;
    for (const each of [client, other]) {
      expect(await each.query('SELECT content FROM page')).toEqual([{ content }]);
      expect(await each.query('SELECT path, lost_value FROM rockpool_conflict')).toEqual([]);
    }
  },
);

it.each(['before', 'after'] as const)(
  'an edit made offline after such an update is kept if another author edited the document %s it [MR-28]',
  async (when) => {
    const dataDir = join(temporaryFolder(), 'data');
    world.nowMs = Date.now();
    await world.start({ dataDir, schema: before });
    const [device, otherDevice] = [createDevice(), createDevice()];
    const old = await world.open({ device, schema: before, migrations });
    await old.execute(`INSERT INTO page VALUES ('p', '{"body":"low tide","m":1,"n":1}')`).synced;
    await old.sync.pause();
    await old.close();
    const otherOld = await world.open({ device: otherDevice, schema: before, migrations });
    await otherOld.sync.upToDate();
    const editOfOther = `UPDATE page SET content = json_set(content, '$.n', 2)`;
    if (when === 'before') await otherOld.execute(editOfOther).synced;
    await otherOld.close();
    await world.stop();
    await world.start({ dataDir });
    const client = await world.open({ device, migrations });
    await client.execute(`UPDATE page SET content = json_set(content, '$.m', 2)`);
    const other = await world.open({ device: otherDevice, migrations });
    if (when === 'after') await other.execute(editOfOther).synced;
    await client.sync.resume();
    await client.sync.upToDate();
    await other.sync.upToDate();
    for (const each of [client, other]) {
      expect(await each.query('SELECT content FROM page')).toEqual([{ content: '{"body":"low tide","m":2,"n":2}' }]);
      expect(await each.query('SELECT path, lost_value FROM rockpool_conflict')).toEqual([]);
    }
  },
);
