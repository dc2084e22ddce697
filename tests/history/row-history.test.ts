import type { Client, RowHistory, RowHistoryState, RowVersion } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { shows, useClientsOfServer } from '#kit/clients-of-server.ts';
import { until } from '#kit/until.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { beforeEach, describe, expect, it } from 'vitest';

const entry = sqliteTable('entry', {
  id: text().primaryKey(),
  amount: integer().notNull(),
  note: text(),
  hits: integer().notNull().default(0),
  details: text(),
});
const tag = sqliteTable('tag', { name: text().primaryKey() });
const schema = defineSchema(
  { entry, tag },
  { history: [entry], merge: [{ table: entry, counters: [entry.hits], documents: [entry.details] }] },
);

let isRefusing = false;
beforeEach(() => {
  isRefusing = false;
});
const world = useClientsOfServer({ schema, validate: () => (isRefusing ? 'not now' : null) });
const open = (principal: string): Promise<Client> => world.open({ principal });

const showsValue = (client: Client, column: string, value: unknown): Promise<void> =>
  shows(client, `SELECT "${column}" FROM entry`, value);

async function reaches(history: RowHistory, isSo: (state: RowHistoryState) => boolean): Promise<RowHistoryState> {
  return new Promise((resolve) => {
    const stop = history.subscribe((state) => {
      if (!isSo(state)) return;
      resolve(state);
      queueMicrotask(() => stop());
    });
  });
}

function lines(versions: readonly RowVersion[]): string[] {
  return versions.map(
    ({ kind, author, changes }) =>
      `${author} ${kind} ${changes.map(({ column, before, after }) => `${column} ${String(before)} → ${String(after)}`).join(', ')}`,
  );
}

describe('the history of a row', () => {
  it('has the versions of all devices, also after the row was deleted', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await ann.execute("INSERT INTO entry (id, amount, note) VALUES ('e', 4210, 'market')").synced;
    await showsValue(bob, 'amount', 4210);
    await bob.execute("UPDATE entry SET amount = 4190, hits = hits + 2 WHERE id = 'e'").synced;
    await bob.execute("DELETE FROM entry WHERE id = 'e'").synced;
    const { versions, next, source, isTruncated, error } = await (await ann.history('entry', 'e')).page();
    expect(lines(versions)).toEqual([
      'bob delete amount 4190 → null, note market → null, hits 2 → null, details null → null',
      'bob update amount 4210 → 4190, hits 0 → 2',
      'ann insert amount null → 4210, note null → market, hits null → 0, details null → null',
    ]);
    expect(versions.map(({ isOwn }) => isOwn)).toEqual([false, false, true]);
    expect({ next, source, isTruncated, error }).toEqual({
      next: null,
      source: 'server',
      isTruncated: false,
      error: null,
    });
  });

  it('shows why its versions cannot be read, instead of loading forever', async () => {
    const ann = await open('ann');
    const states: RowHistoryState[] = [];
    (await ann.history('entry', 'e')).subscribe((state) => states.push(state));
    await ann.close();
    await expect.poll(() => states.at(-1)).toMatchObject({ loading: false, error: { code: 'client-closed' } });
  });

  it('shows versions of this device as pending until the server has admitted them', async () => {
    const ann = await open('ann');
    await ann.execute("INSERT INTO entry (id, amount, hits) VALUES ('e', 1, 3)").synced;
    const history = await ann.history('entry', 'e');
    const first = await reaches(history, ({ loading }) => !loading);
    expect(first.versions).toHaveLength(1);
    const stop = history.subscribe(() => undefined);
    await ann.sync.pause();
    await ann.execute("UPDATE entry SET amount = 2, hits = hits + 5 WHERE id = 'e'");
    const pending = await reaches(history, ({ versions }) => versions.length === 2);
    expect(lines(pending.versions)[0]).toBe('ann update amount 1 → 2, hits 3 → 8');
    expect(pending.versions[0]).toMatchObject({ version: null, receivedMs: null, isOwn: true });
    await ann.sync.resume();
    const admitted = await reaches(history, ({ versions }) => versions[0]?.version !== null);
    expect(lines(admitted.versions)).toEqual(lines(pending.versions));
    stop();
  });

  it('shows the local versions and those already read while the server is unreachable', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await bob.execute("INSERT INTO entry (id, amount) VALUES ('e', 1)").synced;
    await showsValue(ann, 'amount', 1);
    await ann.execute("UPDATE entry SET amount = 2 WHERE id = 'e'").synced;
    const history = await ann.history('entry', 'e');
    const stop = history.subscribe(() => undefined);
    const online = await reaches(history, ({ loading }) => !loading);
    await world.server.close();
    await ann.execute("UPDATE entry SET amount = 3 WHERE id = 'e'");
    const offline = await reaches(history, ({ error, versions }) => error !== null && versions.length === 3);
    expect(lines(offline.versions)).toEqual([
      'ann update amount 2 → 3',
      'ann update amount 1 → 2',
      'bob insert amount null → 1, note null → null, hits null → 0, details null → null',
    ]);
    expect(offline.completeUntilMs).toBe(online.completeUntilMs);
    stop();
    const page = await (await ann.history('entry', 'e')).page();
    expect(page).toMatchObject({ source: 'device', completeUntilMs: null });
    expect(lines(page.versions)).toEqual(['ann update amount 2 → 3', 'ann update amount 1 → 2']);
    await expect(history.at(1)).rejects.toMatchObject({ recovery: 'retry' });
  });

  it('keeps unsent versions while the server is unreachable, even if it answered after they were written', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await bob.execute("INSERT INTO entry (id, amount) VALUES ('e', 1)").synced;
    await showsValue(ann, 'amount', 1);
    await ann.sync.pause();
    await ann.execute("UPDATE entry SET amount = 2 WHERE id = 'e'");
    const history = await ann.history('entry', 'e');
    const stop = history.subscribe(() => undefined);
    await reaches(history, ({ source, versions }) => source === 'server' && versions.length === 2);
    await world.server.close();
    await ann.execute("UPDATE entry SET amount = 3 WHERE id = 'e'");
    await expect
      .poll(() => lines(history.current.versions).map((line) => line.replace(/, note.*/, '')))
      .toEqual(['ann update amount 2 → 3', 'ann update amount 1 → 2', 'bob insert amount null → 1']);
    expect(history.current.error).not.toBeNull();
    stop();
  });

  it('shows unsent versions under a new site id while the server is unreachable', async () => {
    const ann = await open('ann');
    for (const amount of [1, 2, 3])
      await ann.execute('INSERT OR REPLACE INTO entry (id, amount) VALUES (?, ?)', ['e', amount]).synced;
    const history = await ann.history('entry', 'e');
    const stop = history.subscribe(() => undefined);
    const online = await reaches(history, ({ source }) => source === 'server');
    await ann.sync.pause();
    await ann.execute("INSERT INTO tag VALUES ('t')");
    expect(await ann.outbox.withdraw((await ann.outbox.list())[0]?.id as string)).toBe(true);
    await ann.sync.resume();
    await ann.sync.upToDate();
    await world.server.close();
    await ann.execute('UPDATE entry SET amount = 4');
    await expect
      .poll(() => lines(history.current.versions))
      .toEqual(['ann update amount 3 → 4', ...lines(online.versions)]);
    expect(history.current.error).not.toBeNull();
    expect(history.current.versions.every(({ isOwn }) => isOwn)).toBe(true);
    stop();
  });

  it('leaves out what the server rejected, with the server and without it', async () => {
    const ann = await open('ann');
    await ann.execute("INSERT INTO entry (id, amount) VALUES ('e', 1)").synced;
    isRefusing = true;
    await ann.execute("UPDATE entry SET amount = 2 WHERE id = 'e'").synced.catch(() => undefined);
    await until(() => ann.status.current.rejectedCount === 1);
    const history = await ann.history('entry', 'e');
    const inserted = 'ann insert amount null → 1, note null → null, hits null → 0, details null → null';
    expect(lines((await history.page()).versions)).toEqual([inserted]);
    await world.server.close();
    const page = await history.page();
    expect(page.source).toBe('device');
    expect(lines(page.versions)).toEqual([inserted]);
  });

  it('restores a row, some of its columns, or a deleted row, as a write that can be undone', async () => {
    const ann = await open('ann');
    await ann.execute(`INSERT INTO entry (id, amount, note, details) VALUES ('e', 1, 'one', '{"a":1}')`).synced;
    await ann.execute(`UPDATE entry SET amount = 2, note = 'two', hits = 7, details = '{"a":2}'`).synced;
    const history = await ann.history('entry', ['e']);
    const [, first] = (await history.page()).versions;
    const row = async (): Promise<unknown> => (await ann.query('SELECT amount, note, hits, details FROM entry'))[0];
    await history.restore(first?.version ?? 0, { columns: ['note'] });
    expect(await row()).toEqual({ amount: 2, note: 'one', hits: 7, details: '{"a":2}' });
    await ann.undo();
    expect(await row()).toEqual({ amount: 2, note: 'two', hits: 7, details: '{"a":2}' });
    await history.restore(first?.version ?? 0);
    expect(await row()).toEqual({ amount: 1, note: 'one', hits: 0, details: '{"a":1}' });
    await ann.execute('DELETE FROM entry').synced;
    const [deleted] = (await history.page()).versions;
    await expect(history.restore(first?.version ?? 0, { columns: ['note'] })).rejects.toMatchObject({
      code: 'row-missing',
    });
    await history.restore(first?.version ?? 0);
    expect(await row()).toEqual({ amount: 1, note: 'one', hits: 0, details: '{"a":1}' });
    await history.restore(deleted?.version ?? 0);
    expect(await row()).toBeUndefined();
  });

  it('is paged, and the live value grows by pages', async () => {
    const ann = await open('ann');
    await ann.execute("INSERT INTO entry (id, amount) VALUES ('e', 0)");
    for (let amount = 1; amount < 50; amount++) await ann.execute('UPDATE entry SET amount = ?', [amount]);
    await ann.execute('UPDATE entry SET note = 1').synced;
    const history = await ann.history('entry', 'e');
    const first = await history.page({ limit: 30 });
    const second = await history.page({ limit: 30, ...(first.next !== null && { before: first.next }) });
    expect([first.versions.length, second.versions.length, second.next]).toEqual([30, 21, null]);
    const stop = history.subscribe(() => undefined);
    await reaches(history, ({ loading }) => !loading);
    await history.more();
    await history.more();
    await history.more();
    expect(history.current.versions.map(({ version }) => version)).toEqual(
      [...first.versions, ...second.versions].map(({ version }) => version),
    );
    stop();
  });

  it('rejects unknown tables, tables without a history, and missing keys and versions', async () => {
    const ann = await open('ann');
    await expect(ann.history('tag', 'x')).rejects.toMatchObject({ code: 'history-not-kept' });
    await expect(ann.history('nothing', 'x')).rejects.toMatchObject({ code: 'schema-unknown-table' });
    await expect(ann.history('entry', ['a', 'b'])).rejects.toMatchObject({ code: 'key-invalid' });
    await ann.execute("INSERT INTO entry (id, amount) VALUES ('e', 0)").synced;
    const history = await ann.history('entry', 'e');
    await expect(history.at(99)).rejects.toMatchObject({ code: 'history-version-gone' });
    await expect(history.restore(1, { columns: ['colour'] })).rejects.toMatchObject({ code: 'schema-unknown-column' });
    await expect(history.restore(1, { columns: [] })).rejects.toMatchObject({ code: 'config-invalid' });
  });

  it('has only the versions of this device if there is no server', async () => {
    const alone = await createDevice().createClient({ name: 'alone', schema });
    world.closesLater(alone);
    await alone.execute("INSERT INTO entry (id, amount) VALUES ('e', 1)");
    await alone.execute('UPDATE entry SET amount = 2');
    const { versions, source, error } = await (await alone.history('entry', 'e')).page();
    expect({ source, error: error?.code }).toEqual({ source: 'device', error: 'config-invalid' });
    expect(versions.map(({ kind }) => kind)).toEqual(['update', 'insert']);
  });

  it('shows two versions that cancel each other out', async () => {
    const client = await createDevice().createClient({ name: 'alone', schema });
    world.closesLater(client);
    await client.execute("INSERT INTO entry (id, amount) VALUES ('e', 1)");
    const history = await client.history('entry', 'e');
    const stop = history.subscribe(() => undefined);
    await until(() => history.current.versions.length === 1);
    // Written together, so that the live query of the row runs only after both.
    await Promise.all([client.execute('UPDATE entry SET amount = 2'), client.execute('UPDATE entry SET amount = 1')]);
    await until(() => history.current.versions.length === 3);
    expect(history.current.versions.map(({ kind }) => kind)).toEqual(['update', 'update', 'insert']);
    stop();
  });
});
