import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, RowHistory, RowHistoryState } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import { defineSchema, versionName } from '#client/schema/index.ts';
import { shows, useClientsOfServer } from '#kit/clients-of-server.ts';
import { until } from '#kit/until.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { describe, expect, it } from 'vitest';

const entry = sqliteTable('entry', { id: text().primaryKey(), amount: integer().notNull() });
const page = sqliteTable('page', { id: text().primaryKey(), title: text(), content: text() });
const options = {
  history: [entry, page],
  merge: [{ table: page, documents: [{ column: page.content, text: ['body'] }] }],
};
const schema = defineSchema({ entry, page, versionName }, options);
const world = useClientsOfServer({ schema });
const open = (principal: string): Promise<Client> => world.open({ principal });

/** Resolves with the live value once it has these names, newest version first. */
async function reaches(history: RowHistory, names: readonly (readonly string[])[]): Promise<RowHistoryState> {
  return new Promise((resolve) => {
    const stop = history.subscribe((state) => {
      if (JSON.stringify(state.versions.map((version) => version.names)) !== JSON.stringify(names)) return;
      resolve(state);
      queueMicrotask(() => stop());
    });
  });
}

/** An entry with the amounts 1, 2 and 3. */
async function threeVersions(client: Client): Promise<RowHistory> {
  await client.execute("INSERT INTO entry VALUES ('e', 1)").synced;
  for (const amount of [2, 3]) await client.execute('UPDATE entry SET amount = ?', [amount]).synced;
  return client.history('entry', 'e');
}

describe('a name of a version', () => {
  it('is shown with its version on every device, and identifies it', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    const history = await threeVersions(ann);
    const [, second, first] = (await history.page()).versions as [never, never, never];
    await history.name(second, '  before the move ');
    await history.name(first, 'the start');
    await history.name(first, 'the start');
    expect((await history.page()).versions.map(({ names }) => names)).toEqual([[], ['before the move'], ['the start']]);

    const others = await bob.history('entry', 'e');
    await reaches(others, [[], ['before the move'], ['the start']]);
    expect((await others.names()).map(({ name }) => name)).toEqual(['before the move', 'the start']);
    expect(await others.at('before the move')).toEqual({ id: 'e', amount: 2 });
    const past = await bob.past({ table: 'entry', key: 'e', name: 'the start' });
    expect(await past.query('SELECT * FROM entry')).toEqual([{ id: 'e', amount: 1 }]);
    await others.restore('the start');
    expect(await bob.query('SELECT amount FROM entry')).toEqual([{ amount: 1 }]);

    await others.rename(' the start ', 'the very start ');
    await reaches(history, [[], [], ['before the move'], ['the very start']]);
    expect(await history.at('the very start')).toEqual({ id: 'e', amount: 1 });
    await bob.undo();
    await reaches(history, [[], [], ['before the move'], ['the start']]);
    await others.rename('the start', 'the start');
    await expect(others.rename('the start', 'before the move')).rejects.toMatchObject({ code: 'version-name-taken' });
    await expect(others.rename('other', 'another')).rejects.toMatchObject({ code: 'version-name-missing' });
    // From plain JavaScript.
    const none = undefined as unknown as string;
    await expect(history.at(none)).rejects.toMatchObject({ code: 'version-name-missing' });
    await expect(history.rename(none, 'another')).rejects.toMatchObject({ code: 'version-name-missing' });
    await expect(history.unname(none)).rejects.toMatchObject({ code: 'version-name-missing' });
    await expect(history.rename('before the move', none)).rejects.toMatchObject({ code: 'version-name-invalid' });
    await expect(others.rename('the start', ' ')).rejects.toMatchObject({ code: 'version-name-invalid' });
    await others.unname('before the move');
    await reaches(history, [[], [], [], ['the start']]);
    await expect(history.at('before the move')).rejects.toMatchObject({ code: 'version-name-missing' });
    await expect(ann.past({ table: 'entry', key: 'e', name: 'other' })).rejects.toMatchObject({
      code: 'version-name-missing',
    });
    await expect(history.unname('before the move')).rejects.toMatchObject({ code: 'version-name-missing' });
  });

  it('ends the version of a document, and is separate from the names of the row', async () => {
    const ann = await open('ann');
    await ann.execute('INSERT INTO page (id, content) VALUES (\'p\', \'{"body":"Mon"}\')').synced;
    const write = async (body: string): Promise<void> =>
      ann.execute('UPDATE page SET content = ?', [JSON.stringify({ body })]).synced;
    await write('Monday');
    const row = await ann.history('page', 'p');
    const document = row.document<{ body: string }>('content');
    const [one] = (await document.page()).versions as [never];
    await document.name(one, 'sent to Bob');
    await write('Friday');
    await write('Friday, at noon');
    const { versions } = await document.page();
    expect(versions.map(({ names, count }) => [names, count])).toEqual([
      [[], 2],
      [['sent to Bob'], 2],
    ]);
    expect(await document.at('sent to Bob')).toEqual({ body: 'Monday' });
    expect(await document.diff('sent to Bob', versions[0]?.version as number)).toHaveLength(1);
    expect(await row.names()).toEqual([]);
    await expect(row.at('sent to Bob')).rejects.toMatchObject({ code: 'version-name-missing' });
    await row.name((await row.page()).versions[0] as never, 'sent to Bob');
    const past = await ann.past({ table: 'page', key: 'p', column: 'content', name: 'sent to Bob' });
    expect(await past.query('SELECT content FROM page')).toEqual([{ content: '{"body":"Monday"}' }]);
    await document.restore('sent to Bob', { path: ['body'] });
    expect(await document.at((await document.page()).versions[0]?.version ?? 'sent to Bob')).toEqual({
      body: 'Monday',
    });
    await document.rename('sent to Bob', 'read by Bob');
    expect((await row.names()).map(({ name }) => name)).toEqual(['sent to Bob']);
    await document.unname('read by Bob');
    expect([await document.names(), (await row.names()).length]).toEqual([[], 1]);
  });

  it('can be given to an unsent version, without a connection', async () => {
    const ann = await open('ann');
    const history = await threeVersions(ann);
    await ann.sync.pause();
    await ann.execute('UPDATE entry SET amount = 4');
    const [pending] = (await history.page()).versions as [never];
    await history.name(pending, 'offline');
    await reaches(history, [['offline'], [], [], []]);
    await expect(history.at('offline')).rejects.toMatchObject({ code: 'changes-unsent' });
    await ann.sync.resume();
    await ann.execute('UPDATE entry SET amount = 5').synced;
    expect(await history.at('offline')).toEqual({ id: 'e', amount: 4 });
    await reaches(history, [[], ['offline'], [], [], []]);
  });

  it('stays with an unsent version if an earlier change is withdrawn', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    const history = await threeVersions(ann);
    await ann.sync.pause();
    await ann.execute("INSERT INTO page (id) VALUES ('p')");
    await ann.execute('UPDATE entry SET amount = 4');
    await history.name((await history.page()).versions[0] as never, 'offline');
    expect(await ann.outbox.withdraw((await ann.outbox.list())[0]?.id as string)).toBe(true);
    await ann.sync.resume();
    await ann.sync.upToDate();
    const { versions } = await history.page();
    expect(versions.map(({ names, isOwn }) => [names, isOwn])).toEqual([
      [['offline'], true],
      ...Array.from({ length: 3 }, () => [[], true]),
    ]);
    expect(await history.at('offline')).toEqual({ id: 'e', amount: 4 });
    await reaches(await bob.history('entry', 'e'), [['offline'], [], [], []]);
  });

  it('belongs to one version if two devices give it to two versions at once', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    const history = await threeVersions(ann);
    await shows(bob, 'SELECT amount FROM entry', 3);
    const [third, second] = (await history.page()).versions as [never, never];
    const others = await bob.history('entry', 'e');
    await Promise.all([ann.sync.pause(), bob.sync.pause()]);
    await history.name(third, 'same');
    await others.name(second, 'same');
    for (const client of [ann, bob]) {
      await client.sync.resume();
      await client.execute("INSERT INTO page (id) VALUES (?) ON CONFLICT DO UPDATE SET title = 'x'", ['p']).synced;
    }
    // The clocks decide which name wins. It wins as a whole, on both devices.
    await shows(ann, "SELECT count(*) > 0 FROM rockpool_conflict WHERE table_name = 'version_name'", 1);
    const [kept] = await ann.query<{ sequence: number }>('SELECT sequence FROM version_name');
    await shows(bob, 'SELECT sequence FROM version_name', kept?.sequence);
    const { versions } = await history.page();
    expect(versions.map(({ names, sequence }) => [names, sequence === kept?.sequence])).toEqual(
      versions.map(({ names }) => [names, names.length > 0]),
    );
    expect(await others.at('same')).toEqual(await history.at('same'));
  });

  it('outlasts its version; reading that version reports the oldest version left', async () => {
    const folder = temporaryFolder();
    const short = defineSchema(
      { entry, page, versionName },
      { ...options, history: [{ table: entry, retainedDays: 1 }, page] },
    );
    await world.server.close();
    await world.start({ dataDir: join(folder, 'data'), schema: short });
    const ann = await open('ann');
    const history = await threeVersions(ann);
    const { versions } = await history.page();
    await history.name(versions[1] as never, 'soon gone');
    world.nowMs += 3 * 24 * 3600_000;
    await ann.execute('UPDATE entry SET amount = 4').synced;
    const receivedMs = world.nowMs;
    world.nowMs += 1000;
    expect((await history.names()).map(({ name }) => name)).toEqual(['soon gone']);
    const [newest] = (await history.page()).versions;
    await expect(history.at('soon gone')).rejects.toMatchObject({
      code: 'history-version-gone',
      fields: { table: 'entry', oldestVersion: newest?.version, oldestMs: receivedMs },
    });
  });

  it('is rejected if it is empty, too long, taken, over the limit, or without a table', async () => {
    const ann = await open('ann');
    const history = await threeVersions(ann);
    const [third, second] = (await history.page()).versions as [never, never];
    for (const name of ['', '  ', 'x'.repeat(101), 'a\0b'])
      await expect(history.name(third, name)).rejects.toMatchObject({
        code: 'version-name-invalid',
        fields: { maxLength: 100 },
      });
    await history.name(third, '🎈'.repeat(100));
    await history.name(third, 'same');
    await expect(history.name(second, 'same')).rejects.toMatchObject({ code: 'version-name-taken' });
    for (let i = 3; i <= 100; i++) await history.name(second, `name ${i}`);
    await expect(history.name(second, 'name 101')).rejects.toMatchObject({
      code: 'version-names-full',
      fields: { maxNames: 100 },
    });
    expect((await history.names()).length).toBe(100);

    const without = await createDevice().createClient({
      name: 'without',
      schema: defineSchema({ entry, page }, options),
    });
    world.closesLater(without);
    const undeclared = await threeVersionsAlone(without);
    expect(await undeclared.names()).toEqual([]);
    await expect(undeclared.name(third, 'x')).rejects.toMatchObject({ code: 'version-names-undeclared' });
    await expect(undeclared.rename('x', 'y')).rejects.toMatchObject({ code: 'version-names-undeclared' });
    await expect(undeclared.unname('x')).rejects.toMatchObject({ code: 'version-names-undeclared' });
  });

  it("is rejected by the server if the user's role may not write it", async () => {
    const ann = await open('ann');
    await threeVersions(ann);
    const viewer = await world.open({ principal: 'eve', role: 'viewer' });
    await shows(viewer, 'SELECT amount FROM entry', 3);
    const history = await viewer.history('entry', 'e');
    await history.name((await history.page()).versions[0] as never, 'of a viewer');
    await until(() => viewer.status.current.reason?.code === 'auth-forbidden');
    expect(await (await ann.history('entry', 'e')).names()).toEqual([]);
  });

  it('stays with its transaction if a restored server gives the transaction a different number', async () => {
    const folder = temporaryFolder();
    const [dataDir, copy] = [join(folder, 'data'), join(folder, 'copy')];
    await world.stop();
    await world.start({ dataDir });
    const device = createDevice();
    const before = await world.open({ device });
    await before.execute("INSERT INTO entry VALUES ('e', 1)").synced;
    await world.stop();
    cpSync(dataDir, copy, { recursive: true });
    await world.start({ dataDir });
    const later = await world.open({ device });
    for (const amount of [2, 3, 4]) await later.execute('UPDATE entry SET amount = ?', [amount]).synced;
    const named = (await (await later.history('entry', 'e')).page()).versions[2];
    await (await later.history('entry', 'e')).name(named as never, 'second');
    await later.execute('UPDATE entry SET amount = 5').synced;
    await world.stop();

    await world.start({ dataDir: copy });
    const carl = await open('carl');
    for (const id of ['a', 'b', 'c']) await carl.execute('INSERT INTO page (id) VALUES (?)', [id]).synced;
    const after = await world.open({ device });
    await shows(carl, 'SELECT amount FROM entry', 5);
    const history = await after.history('entry', 'e');
    const { versions } = await history.page();
    const found = versions.find(({ names }) => names.includes('second'));
    expect(found?.changes).toMatchObject([{ before: 1, after: 2 }]);
    expect(found?.version).not.toBe(named?.version);
    expect(await history.at('second')).toEqual({ id: 'e', amount: 2 });
    expect(await carl.query('SELECT name FROM version_name')).toEqual([{ name: 'second' }]);
  });
});

async function threeVersionsAlone(client: Client): Promise<RowHistory> {
  await client.execute("INSERT INTO entry VALUES ('e', 1)");
  return client.history('entry', 'e');
}
