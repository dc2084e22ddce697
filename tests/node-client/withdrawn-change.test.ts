import { describe, expect, it } from 'vitest';
import { sql, type Client } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import { buildSchema, DEFAULT_DOCUMENT_RULE } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { shows, useClientsOfServer } from '#kit/clients-of-server.ts';
import { until } from '#kit/until.ts';

const id = sampleColumn('id', 'text', { notNull: true });
const schema = buildSchema([
  sampleTable('note', [id, sampleColumn('text', 'text')]),
  sampleTable('tally', [id, sampleColumn('hits', 'integer', { notNull: true, defaultSql: '0' })], {
    merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [], documents: [] },
  }),
  sampleTable('page', [id, sampleColumn('content', 'text')], {
    merge: {
      deleteRule: 'delete-wins',
      counters: [],
      groups: [],
      documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content' }],
    },
  }),
]);

const settled = (client: Client): Promise<void> => client.sync.upToDate();
const notesOf = async (client: Client): Promise<unknown[]> =>
  (await client.query('SELECT id FROM note ORDER BY id')).map(({ id: note }) => note);
const rejectedOf = async (client: Client): Promise<unknown[]> =>
  (await client.rejected.list()).map(({ reason, decided }) => [reason.code, decided]);

/** Writes and returns the id of the waiting changeset. */
async function waiting(client: Client, write: Promise<unknown>): Promise<string> {
  await write;
  return (await client.outbox.list({ limit: 1_000 })).at(-1)?.id as string;
}

describe('a change that the server refuses above a quota', () => {
  const world = useClientsOfServer({ schema, quotas: { maxDatabaseBytes: 700_000 } });
  const big = 'x'.repeat(2_000_000);

  /** A device whose outbox has an insert that is too large for the slack of the quota, a delete and an edit behind it. */
  async function blocked(device = createDevice()): Promise<Client> {
    const client = await world.open({ device });
    await client.batch([sql`INSERT INTO note VALUES ('a', ${big})`, sql`INSERT INTO note VALUES ('b', 'small')`])
      .synced;
    await client.execute(sql`INSERT INTO note VALUES ('c', ${big})`);
    await client.execute(sql`DELETE FROM note WHERE id = 'a'`);
    await until(() => client.status.current.reason?.code === 'quota-exceeded');
    expect(client.status.current).toMatchObject({ state: 'blocked', pendingCount: 2 });
    return client;
  }

  it('is listed and withdrawn, and everything behind it is sent at once', async () => {
    const client = await blocked();
    const [first, second] = await client.outbox.list();
    expect(first?.changes).toMatchObject([{ table: 'note', kind: 'insert', key: ['c'] }]);
    expect(second?.changes).toMatchObject([{ table: 'note', kind: 'delete', key: ['a'] }]);
    expect(await client.outbox.list({ limit: 1 })).toEqual([first]);
    expect(await client.outbox.withdraw(first?.id as string)).toBe(true);
    expect(await notesOf(client)).toEqual(['b']);
    await settled(client);
    expect(await client.outbox.list()).toEqual([]);
    expect(await rejectedOf(client)).toEqual([['changeset-withdrawn', true]]);
    const other = await world.open();
    await settled(other);
    expect(await notesOf(other)).toEqual(['b']);
  });

  it('is withdrawn, and a later edit of a row that was sent before it takes effect without a conflict', async () => {
    const client = await world.open();
    const full = 'x'.repeat(750_000);
    await client.batch([sql`INSERT INTO note VALUES ('a', ${full})`, sql`INSERT INTO note VALUES ('z', 'old')`]).synced;
    await client.sync.pause();
    // The server admits changes before a delete if they fit into the slack of the quota.
    await client.execute(sql`INSERT INTO note VALUES ('b', 'one')`);
    await client.execute(sql`DELETE FROM note WHERE id = 'z'`);
    await client.execute(sql`INSERT INTO note VALUES ('c', ${big})`);
    await client.execute(sql`UPDATE note SET text = 'two' WHERE id = 'b'`);
    await client.execute(sql`DELETE FROM note WHERE id = 'a'`);
    await client.sync.resume();
    await until(() => client.status.current.reason?.code === 'quota-exceeded');
    expect(client.status.current).toMatchObject({ state: 'blocked', pendingCount: 3 });
    expect(await client.outbox.withdraw((await client.outbox.list())[0]?.id as string)).toBe(true);
    await settled(client);
    const other = await world.open();
    await settled(other);
    for (const device of [client, other]) {
      expect(await device.query('SELECT * FROM note')).toEqual([{ id: 'b', text: 'two' }]);
      expect(await device.query('SELECT * FROM rockpool_conflict')).toEqual([]);
    }
  });

  it('is withdrawn from a tab that follows, whose live query and list of rejected changes show it', async () => {
    const device = createDevice();
    const leader = await blocked(device);
    const follower = await world.open({ device });
    const [first] = await follower.outbox.list();
    expect(await follower.outbox.withdraw(first?.id as string)).toBe(true);
    await shows(leader, 'SELECT count(*) FROM note', 1);
    await settled(follower);
    for (const tab of [leader, follower]) {
      expect(await notesOf(tab)).toEqual(['b']);
      await until(() => tab.rejected.current[0]?.decided === true);
    }
  });

  it('is withdrawn after a restart, and waits for the next connection', async () => {
    const device = createDevice();
    const client = await blocked(device);
    await client.sync.pause();
    const [first] = await client.outbox.list();
    expect(await client.outbox.withdraw(first?.id as string)).toBe(true);
    expect(await rejectedOf(client)).toEqual([['changeset-withdrawn', false]]);
    await client.close();
    const again = await world.open({ device });
    expect(await rejectedOf(again)).toEqual([['changeset-withdrawn', false]]);
    expect(await notesOf(again)).toEqual(['b']);
    await again.sync.resume();
    await settled(again);
    expect(await rejectedOf(again)).toEqual([['changeset-withdrawn', true]]);
    await again.rejected.drop((await again.rejected.list())[0]?.sequence as number);
    expect(await notesOf(again)).toEqual(['b']);
  });
});

describe('a withdrawn change', () => {
  const world = useClientsOfServer({ schema });

  it('that the server has already stays in effect, and later changes are sent', async () => {
    const client = await world.open();
    await client.execute(sql`INSERT INTO tally (id) VALUES ('t')`).synced;
    // Nothing is awaited in between, so the server may have any number of them.
    const writes = Array.from({ length: 20 }, () => client.execute(sql`UPDATE tally SET hits = hits + 1`));
    await Promise.all(writes);
    const listed = await client.outbox.list();
    const withdrawn = await Promise.all(listed.map(({ id: change }) => client.outbox.withdraw(change)));
    await client.execute(sql`UPDATE tally SET hits = hits + 100`);
    await settled(client);
    const rejected = await client.rejected.list();
    const expected = 120 - rejected.length;
    expect(rejected.length).toBeLessThanOrEqual(withdrawn.filter(Boolean).length);
    expect(await client.query('SELECT hits FROM tally')).toEqual([{ hits: expected }]);
    const other = await world.open();
    await settled(other);
    expect(await other.query('SELECT hits FROM tally')).toEqual([{ hits: expected }]);
    for (const { sequence } of rejected) await client.rejected.retry(sequence);
    await settled(client);
    await settled(other);
    await shows(other, 'SELECT hits FROM tally', 120);
    expect(await client.query('SELECT hits FROM tally')).toEqual([{ hits: 120 }]);
  });

  it('replaces a dropped one in the lists of all tabs, although the number of rejected changes stays the same', async () => {
    const device = createDevice();
    const [client, other] = [await world.open({ device }), await world.open({ device })];
    for (const tab of [client, other]) tab.rejected.subscribe(() => undefined);
    const write = async (key: string): Promise<string> => {
      await client.sync.pause();
      return waiting(client, client.execute(sql`INSERT INTO note (id) VALUES (${key})`));
    };
    await client.outbox.withdraw(await write('a'));
    await client.sync.resume();
    await settled(client);
    const next = await write('b');
    const shown = (): unknown[] =>
      [client, other].map(({ rejected }) => rejected.current.map(({ changes }) => changes[0]?.key));
    await until(() => [client, other].every(({ status }) => status.current.pendingCount === 1));
    // After the reads of the lists that the last status has started.
    for (const tab of [client, other]) await tab.rejected.list();
    expect(shown()).toEqual([[['a']], [['a']]]);
    const [dropped] = client.rejected.current;
    // In one step, so that no status in between reaches a tab.
    await Promise.all([client.rejected.drop(dropped?.sequence as number), client.outbox.withdraw(next)]);
    await expect.poll(shown).toEqual([[['b']], [['b']]]);
  });

  it('takes its edits out of a document, and edits that build on them are rejected or applied again', async () => {
    const client = await world.open();
    await client.execute(sql`INSERT INTO page VALUES ('p', ${JSON.stringify({ title: 'Trip', tags: ['a'] })})`).synced;
    await client.sync.pause();
    const page = await client.document<{ title: string; tags: string[] }>('page', ['p'], 'content');
    const change = async (
      run: (value: { title: string; tags: string[] }) => { title: string; tags: string[] },
    ): Promise<string> => {
      page.change(run);
      return waiting(client, page.saved());
    };
    await change((value) => ({ ...value, title: 'Trip to Rome' }));
    const withdrawn = await change((value) => ({ ...value, tags: [...value.tags, 'b'] }));
    await change((value) => ({ ...value, title: 'Trip to Oslo' }));
    expect(await client.outbox.withdraw(withdrawn)).toBe(true);
    const content = async (of: Client): Promise<unknown> =>
      JSON.parse(((await of.query('SELECT content FROM page'))[0] as { content: string }).content);
    // Edits of a document build on each other, so the last one waits for the decision of the server too.
    expect(await content(client)).toEqual({ title: 'Trip to Rome', tags: ['a'] });
    await client.sync.resume();
    await settled(client);
    const other = await world.open();
    await settled(other);
    for (const device of [client, other]) expect(await content(device)).toEqual({ title: 'Trip to Oslo', tags: ['a'] });
    expect(page.current.value).toEqual({ title: 'Trip to Oslo', tags: ['a'] });
    const [rejected] = await client.rejected.list();
    await client.rejected.retry(rejected?.sequence as number);
    await settled(client);
    expect(await content(client)).toEqual({ title: 'Trip to Oslo', tags: ['a', 'b'] });
    await page.close();
  });

  it('leaves later changes of its rows to the conflict log', async () => {
    const client = await world.open();
    await settled(client);
    await client.sync.pause();
    const withdrawn = await waiting(client, client.execute(sql`INSERT INTO note VALUES ('n', 'one')`));
    await client.execute(sql`UPDATE note SET text = 'two'`);
    await client.execute(sql`INSERT INTO note VALUES ('m', 'other')`);
    expect(await client.outbox.withdraw(withdrawn)).toBe(true);
    expect(await notesOf(client)).toEqual(['m']);
    await client.sync.resume();
    await settled(client);
    expect(await notesOf(client)).toEqual(['m']);
    expect(await client.query('SELECT table_name, rule FROM rockpool_conflict')).toEqual([
      { table_name: 'note', rule: 'delete-wins' },
    ]);
    const other = await world.open();
    await settled(other);
    expect(await notesOf(other)).toEqual(['m']);
  });

  it('resolves with false for a change that is not waiting, and without a server', async () => {
    const client = await world.open();
    const change = await waiting(client, client.execute(sql`INSERT INTO note VALUES ('n', 'one')`));
    await settled(client);
    expect(await client.outbox.withdraw(change ?? '1')).toBe(false);
    const local = await createDevice().createClient({ name: 'local', schema });
    await local.execute(sql`INSERT INTO note VALUES ('n', 'one')`);
    expect(await local.outbox.withdraw((await local.outbox.list())[0]?.id as string)).toBe(false);
    expect(await notesOf(local)).toEqual(['n']);
    await local.close();
  });
});
