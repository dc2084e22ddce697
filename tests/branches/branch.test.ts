import type { Branch, Client } from '#client/index.ts';
import { createDeviceOn } from '#client/node/device.ts';
import { createDevice, inProcess, type Device } from '#client/node/index.ts';
import { branchFile } from '#client/rpc/branch-file.ts';
import { defineSchema } from '#client/schema/index.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { createSyncServer } from '#sync-server/index.ts';
import { memoryMedium, openStorage } from '#vfs-opfs/index.ts';
import {
  integer,
  sqliteTable,
  text,
  type AnySQLiteColumn,
} from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const account = sqliteTable('account', { id: text().primaryKey(), name: text().notNull().unique() });
const entry = sqliteTable('entry', {
  id: text().primaryKey(),
  accountId: text('account_id').references((): AnySQLiteColumn => account.id),
  amount: integer(),
  currency: text(),
  note: text(),
  hits: integer().notNull().default(0),
  details: text(),
});
const TABLES = { account, entry };
const MERGE = {
  merge: [
    {
      table: entry,
      counters: [entry.hits],
      groups: [[entry.amount, entry.currency]],
      documents: [{ column: entry.details, text: ['body'] }],
    },
  ],
} satisfies Parameters<typeof defineSchema>[1];
const schema = defineSchema(TABLES, MERGE);

let device: Device;
let client: Client;
const clients: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  device = createDevice();
  client = await device.createClient({ name: 'budget', schema });
  clients.push(client);
  await client.batch([
    { sql: "INSERT INTO account VALUES ('a', 'cash'), ('b', 'bank')", params: [] },
    {
      sql: `INSERT INTO entry VALUES
        ('e', 'a', 10, 'EUR', 'market', 5, '{"body":"We meet on Monday.","tags":["x"]}'),
        ('f', 'b', 20, 'USD', 'rent', 0, NULL)`,
      params: [],
    },
  ]);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((opened) => opened.close()));
});

async function begin(name: string = 'what if'): Promise<Branch> {
  const branch = await client.branch(name);
  clients.push(branch);
  return branch;
}

const entries = (of: Client): Promise<unknown[]> => of.query('SELECT * FROM entry ORDER BY id');

describe('a branch', () => {
  it('is written and queried like any database, separately from its origin', async () => {
    const beforeMs = Date.now();
    const branch = await begin();
    expect(branch.begunMs).toBeGreaterThanOrEqual(beforeMs);
    expect(branch.begunMs).toBeLessThanOrEqual(Date.now());
    expect(await entries(branch)).toEqual(await entries(client));
    await branch.execute("UPDATE entry SET note = 'in the branch' WHERE id = 'e'");
    await client.execute("UPDATE entry SET note = 'in the origin' WHERE id = 'f'");
    const notes = 'SELECT id, note FROM entry ORDER BY id';
    expect(await branch.query(notes)).toEqual([
      { id: 'e', note: 'in the branch' },
      { id: 'f', note: 'rent' },
    ]);
    expect(await client.query(notes)).toEqual([
      { id: 'e', note: 'market' },
      { id: 'f', note: 'in the origin' },
    ]);
    expect(branch.branchName).toBe('what if');
  });

  it('lists the rows and cells that differ from the state it began with, with old and new values', async () => {
    await client.execute("UPDATE entry SET note = 'before the branch' WHERE id = 'e'");
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'first', hits = hits + 2 WHERE id = 'e'");
    await branch.execute("UPDATE entry SET note = 'second' WHERE id = 'e'");
    await branch.execute("UPDATE entry SET details = json_set(details, '$.body', 'We meet on Friday.') WHERE id = 'e'");
    await branch.execute("DELETE FROM entry WHERE id = 'f'");
    await branch.execute("INSERT INTO account VALUES ('c', 'savings'), ('d', 'gone again')");
    await branch.execute("DELETE FROM account WHERE id = 'd'");
    await branch.execute("UPDATE account SET name = 'x' WHERE id = 'a'");
    await branch.execute("UPDATE account SET name = 'cash' WHERE id = 'a'");
    expect(await branch.diff()).toEqual([
      {
        table: 'account',
        key: ['c'],
        kind: 'insert',
        changes: [{ column: 'name', before: null, after: 'savings', operations: null }],
      },
      {
        table: 'entry',
        key: ['e'],
        kind: 'update',
        changes: [
          { column: 'note', before: 'before the branch', after: 'second', operations: null },
          { column: 'hits', before: 5, after: 7, operations: null },
          {
            column: 'details',
            before: '{"body":"We meet on Monday.","tags":["x"]}',
            after: '{"body":"We meet on Friday.","tags":["x"]}',
            operations: [
              {
                op: 'replace',
                path: '/body',
                value: 'We meet on Friday.',
                oldValue: 'We meet on Monday.',
                text: [{ at: 11, removed: 'Mon', inserted: 'Fri' }],
              },
            ],
          },
        ],
      },
      {
        table: 'entry',
        key: ['f'],
        kind: 'delete',
        changes: [
          { column: 'account_id', before: 'b', after: null, operations: null },
          { column: 'amount', before: 20, after: null, operations: null },
          { column: 'currency', before: 'USD', after: null, operations: null },
          { column: 'note', before: 'rent', after: null, operations: null },
          { column: 'hits', before: 0, after: null, operations: null },
        ],
      },
    ]);
  });

  it('merges as one transaction of its origin, which one undo reverts', async () => {
    const before = await entries(client);
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'new' WHERE id = 'e'");
    await branch.execute("INSERT INTO account VALUES ('c', 'savings')");
    await branch.execute("UPDATE entry SET account_id = 'a' WHERE id = 'f'");
    await branch.execute("DELETE FROM account WHERE id = 'b'");
    const after = await entries(branch);
    const count = 'SELECT max(sequence) AS n FROM rockpool_changelog';
    const [{ n }] = (await client.query<{ n: number }>(count)) as [{ n: number }];
    const { rows, conflicts } = await branch.merge();
    expect(conflicts).toEqual([]);
    expect(rows.map(({ table, kind }) => [table, kind])).toEqual([
      ['account', 'insert'],
      ['account', 'delete'],
      ['entry', 'update'],
      ['entry', 'update'],
    ]);
    expect(await client.query(count)).toEqual([{ n: n + 1 }]);
    expect(await entries(client)).toEqual(after);
    await client.undo();
    expect(await entries(client)).toEqual(before);
    expect(await client.query('SELECT id FROM account ORDER BY id')).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  it('adds counters, merges documents by their edits, and merges the columns of a group as one value', async () => {
    const branch = await begin();
    await branch.execute(`UPDATE entry SET hits = hits + 3, amount = 11,
      details = '{"body":"We meet on Friday.","tags":["x"]}' WHERE id = 'e'`);
    await client.execute(`UPDATE entry SET hits = hits + 10, note = 'theirs',
      details = '{"body":"Today we meet on Monday.","tags":["x","y"]}' WHERE id = 'e'`);
    await branch.merge();
    expect(await client.query("SELECT amount, currency, note, hits, details FROM entry WHERE id = 'e'")).toEqual([
      {
        amount: 11,
        currency: 'EUR',
        note: 'theirs',
        hits: 18,
        details: '{"body":"Today we meet on Friday.","tags":["x","y"]}',
      },
    ]);
  });

  it('shows a place of a document that both changed as a conflict', async () => {
    const change = (value: string): string => `UPDATE entry SET details = ${value} WHERE id = 'e'`;
    for (const conflicts of ['branch', 'origin'] as const) {
      await client.execute(change(`'{"body":"We meet on Monday.","tags":["x"]}'`));
      const branch = await begin(`by ${conflicts}`);
      await branch.execute(change(`'{"by":"branch","body":"We meet on Monday.","n":1,"tags":["x"]}'`));
      await client.execute(change(`'{"by":"origin","body":"Now we meet on Monday.","tags":["x"]}'`));
      await expect(branch.merge()).rejects.toMatchObject({ code: 'branch-conflicts', fields: { count: 1 } });
      await branch.merge({ conflicts });
      const [row] = await client.query<{ details: string }>("SELECT details FROM entry WHERE id = 'e'");
      expect(JSON.parse(String(row?.details))).toEqual({
        body: 'Now we meet on Monday.',
        by: conflicts,
        n: 1,
        tags: ['x'],
      });
    }
  });

  it('shows a change of the branch in a part of a document that the origin has removed as a conflict', async () => {
    const change = (value: string): string => `UPDATE entry SET details = ${value} WHERE id = 'e'`;
    for (const conflicts of ['branch', 'origin'] as const) {
      await client.execute(change(`'{"items":[{"id":"a","n":1}],"tags":[{"x":1}]}'`));
      const branch = await begin(`by ${conflicts}`);
      await branch.execute(change(`'{"items":[{"id":"a","n":2}],"ours":1,"tags":[{"x":2}]}'`));
      await client.execute(change(`'{"items":[],"tags":[],"theirs":1}'`));
      expect((await branch.preview()).conflicts).toMatchObject([
        {
          column: 'details',
          ours: '{"items":[{"id":"a","n":2}],"ours":1,"tags":[{"x":2}]}',
          theirs: '{"items":[],"tags":[],"theirs":1}',
        },
      ]);
      await branch.merge({ conflicts });
      const places =
        conflicts === 'branch' ? { items: [{ id: 'a', n: 2 }], tags: [{ x: 2 }] } : { items: [], tags: [] };
      const [row] = await client.query<{ details: string }>("SELECT details FROM entry WHERE id = 'e'");
      expect(JSON.parse(String(row?.details))).toEqual({ ...places, ours: 1, theirs: 1 });
    }
  });

  it('deletes a row with a document, which the diff shows as its JSON', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET details = json_set(details, '$.body', 'We meet on Friday.') WHERE id = 'e'");
    await branch.execute("DELETE FROM entry WHERE id = 'e'");
    const [row] = await branch.diff();
    expect(row?.changes.find(({ column }) => column === 'details')).toEqual({
      column: 'details',
      before: '{"body":"We meet on Monday.","tags":["x"]}',
      after: null,
      operations: [],
    });
    expect((await branch.merge()).conflicts).toEqual([]);
    expect(await client.query('SELECT id FROM entry')).toEqual([{ id: 'f' }]);
  });

  it('outlives all clients, and is opened by name', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'kept' WHERE id = 'e'");
    await branch.close();
    await client.close();
    client = await device.createClient({ name: 'budget', schema });
    clients.push(client);
    expect(await client.listBranches()).toEqual([{ name: 'what if', sizeBytes: expect.any(Number) as number }]);
    const again = await client.openBranch('what if');
    clients.push(again);
    expect((await again.diff()).map(({ key }) => key)).toEqual([['e']]);
    await again.merge();
    expect(await client.query("SELECT note FROM entry WHERE id = 'e'")).toEqual([{ note: 'kept' }]);
    expect(await client.listBranches()).toEqual([]);
  });

  it('is removed from the device together with its database', async () => {
    await (await begin()).close();
    await client.leave({ discardUnsent: true });
    client = await device.createClient({ name: 'budget', schema });
    clients.push(client);
    expect(await client.listBranches()).toEqual([]);
  });

  it('is removed before its database, so that the next database of the same name has no branch', async () => {
    await begin();
    await expect(client.leave({ discardUnsent: true })).rejects.toMatchObject({ code: 'storage-busy' });
    client = await device.createClient({ name: 'budget', schema });
    clients.push(client);
    expect(await entries(client)).toHaveLength(2);
  });

  it('syncs nothing before it is merged', async () => {
    const server = createSyncServer({
      dataDir: temporaryFolder(),
      schema,
      secret: 'a secret of this test, long enough',
      log: () => undefined,
    });
    const open = async (): Promise<Client> => {
      const opened = await createDevice().createClient({
        name: 'synced',
        schema,
        sync: {
          url: 'ws://in-process',
          transport: inProcess(server),
          databaseId: 'budget',
          token: () => server.issueToken({ principal: 'ann', databases: ['budget'], ttlMs: 3_600_000 }),
        },
      });
      clients.push(opened);
      return opened;
    };
    const [ann, bob] = [await open(), await open()];
    await ann.execute("INSERT INTO account VALUES ('s', 'one')").synced;
    const branch = await ann.branch('try');
    clients.push(branch);
    await branch.execute("UPDATE account SET name = 'two' WHERE id = 's'");
    expect(branch.status.current.state).toBe('offline');
    await ann.execute("INSERT INTO account VALUES ('t', 'three')").synced;
    const live = bob.live<{ name: string }>('SELECT name FROM account ORDER BY id');
    for await (const { rows } of live)
      if (rows.length === 2) {
        expect(rows.map(({ name }) => name)).toEqual(['one', 'three']);
        break;
      }
    await branch.merge();
    for await (const { rows } of live) if (rows[0]?.name === 'two') break;
    await Promise.all(clients.splice(0).map((opened) => opened.close()));
    await server.close();
  });
});

describe('a conflict', () => {
  it('is shown with all three values, and stops the merge until the app decides', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'ours' WHERE id = 'e'");
    await client.execute("UPDATE entry SET note = 'theirs' WHERE id = 'e'");
    const conflict = {
      kind: 'cell',
      table: 'entry',
      key: ['e'],
      column: 'note',
      base: 'market',
      ours: 'ours',
      theirs: 'theirs',
    };
    expect((await branch.preview()).conflicts).toEqual([conflict]);
    await expect(branch.merge()).rejects.toMatchObject({ code: 'branch-conflicts', fields: { count: 1 } });
    expect(await client.query("SELECT note FROM entry WHERE id = 'e'")).toEqual([{ note: 'theirs' }]);
    expect((await branch.merge({ conflicts: 'branch' })).conflicts).toEqual([conflict]);
    expect(await client.query("SELECT note FROM entry WHERE id = 'e'")).toEqual([{ note: 'ours' }]);
  });

  it('is decided separately from other conflicts', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'ours'");
    await client.execute("UPDATE entry SET note = 'theirs'");
    await branch.merge({ conflicts: ({ key }) => (key[0] === 'e' ? 'branch' : 'origin') });
    expect(await client.query('SELECT note FROM entry ORDER BY id')).toEqual([{ note: 'ours' }, { note: 'theirs' }]);
  });

  it.each([
    ['a promise', async () => 'branch'],
    ['nothing', () => undefined],
    ['another word', 'theirs'],
    ['null', null],
  ])('stops the merge if the decision is %s', async (_, decision) => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'shop' WHERE id = 'e'");
    await client.execute("UPDATE entry SET note = 'stall' WHERE id = 'e'");
    const merging = branch.merge({ conflicts: decision as 'branch' });
    await expect(merging).rejects.toMatchObject({ code: 'config-invalid' });
    await branch.merge({ conflicts: 'branch' });
    expect(await client.query("SELECT note FROM entry WHERE id = 'e'")).toEqual([{ note: 'shop' }]);
  });

  it('does not arise if both sides wrote the same value', async () => {
    const branch = await begin();
    for (const of of [branch, client]) await of.execute("UPDATE entry SET note = 'same' WHERE id = 'e'");
    expect(await branch.preview()).toEqual({ rows: [], conflicts: [] });
    await branch.merge();
  });

  it('names a row that one side deleted and the other changed', async () => {
    const branch = await begin();
    await branch.execute("DELETE FROM entry WHERE id = 'e'");
    await branch.execute("UPDATE entry SET note = 'ours' WHERE id = 'f'");
    await client.execute("UPDATE entry SET note = 'theirs' WHERE id = 'e'");
    await client.execute("DELETE FROM entry WHERE id = 'f'");
    expect((await branch.preview()).conflicts.map(({ kind, key }) => [kind, key])).toEqual([
      ['deleted-in-branch', ['e']],
      ['deleted-in-origin', ['f']],
    ]);
    await branch.merge({ conflicts: 'branch' });
    expect(await client.query('SELECT id, note FROM entry')).toEqual([{ id: 'f', note: 'ours' }]);
  });

  it('is resolved with the rows of the origin if the app chooses the origin', async () => {
    const branch = await begin();
    await branch.execute("DELETE FROM entry WHERE id = 'e'");
    await branch.execute("UPDATE entry SET note = 'ours' WHERE id = 'f'");
    await client.execute("UPDATE entry SET note = 'theirs' WHERE id = 'e'");
    await client.execute("DELETE FROM entry WHERE id = 'f'");
    expect(await branch.merge({ conflicts: 'origin' })).toMatchObject({ rows: [] });
    expect(await client.query('SELECT id, note FROM entry')).toEqual([{ id: 'e', note: 'theirs' }]);
  });

  it('covers all columns of a group', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET amount = 99 WHERE id = 'e'");
    await client.execute("UPDATE entry SET currency = 'CHF' WHERE id = 'e'");
    expect((await branch.preview()).conflicts.map(({ column, ours, theirs }) => [column, ours, theirs])).toEqual([
      ['amount', 99, 10],
      ['currency', 'EUR', 'CHF'],
    ]);
    await branch.merge({ conflicts: 'branch' });
    expect(await client.query("SELECT amount, currency FROM entry WHERE id = 'e'")).toEqual([
      { amount: 99, currency: 'EUR' },
    ]);
  });

  it('is found in a row that both sides inserted', async () => {
    const branch = await begin();
    await branch.execute("INSERT INTO account VALUES ('n', 'ours')");
    await client.execute("INSERT INTO account VALUES ('n', 'theirs')");
    expect((await branch.preview()).conflicts).toMatchObject([{ kind: 'cell', base: null, ours: 'ours' }]);
    await branch.merge({ conflicts: 'branch' });
    expect(await client.query("SELECT name FROM account WHERE id = 'n'")).toEqual([{ name: 'ours' }]);
  });
});

describe('the order of a merge', () => {
  it('lets rows take unique values that other rows free, in any order', async () => {
    const branch = await begin();
    await branch.execute("DELETE FROM entry WHERE id = 'f'");
    await branch.execute("DELETE FROM account WHERE id = 'b'");
    await branch.execute("UPDATE account SET name = 'bank' WHERE id = 'a'");
    await branch.execute("INSERT INTO account VALUES ('0', 'cash')");
    await branch.merge();
    expect(await client.query('SELECT * FROM account ORDER BY id')).toEqual([
      { id: '0', name: 'cash' },
      { id: 'a', name: 'bank' },
    ]);
  });

  it('moves children to other parents before their parents are deleted', async () => {
    const branch = await begin();
    await branch.execute("INSERT INTO account VALUES ('z', 'new')");
    await branch.execute("UPDATE entry SET account_id = 'z' WHERE id = 'e'");
    await branch.execute("DELETE FROM account WHERE id = 'a'");
    await branch.merge();
    expect(await client.query("SELECT account_id FROM entry WHERE id = 'e'")).toEqual([{ account_id: 'z' }]);
  });
});

describe('a write in the tab that merges', () => {
  const writes: Record<string, (branch: Branch) => Promise<unknown>> = {
    execute: (branch) => branch.execute("UPDATE entry SET note = 'late' WHERE id = 'f'"),
    transaction: (branch) => branch.transaction((tx) => tx.execute("UPDATE entry SET note = 'late' WHERE id = 'f'")),
    undo: (branch) => branch.undo(),
  };
  const noteOfF = async (of: Client): Promise<unknown> => (await of.query("SELECT note FROM entry WHERE id = 'f'"))[0];

  it.each(Object.keys(writes))('fails after the merge, which deletes the branch: %s', async (name) => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'ours' WHERE id = 'f'");
    const merged = branch.merge();
    await Promise.resolve(); // A merge begins in a later task, and a write before it is merged too.
    const code = writes[name]!(branch).then(
      () => 'written',
      (error: { readonly code: string }) => error.code,
    );
    await merged;
    expect(await code).toBe('branch-ended');
    expect(await noteOfF(client)).toEqual({ note: 'ours' });
  });

  it('runs after a merge that failed', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'ours' WHERE id = 'f'");
    await client.execute("UPDATE entry SET note = 'theirs' WHERE id = 'f'");
    const merged = branch.merge().catch((error: unknown) => error);
    await Promise.resolve();
    const write = branch.execute("UPDATE entry SET note = 'late' WHERE id = 'f'");
    expect(await merged).toMatchObject({ code: 'branch-conflicts' });
    await write;
    expect(await noteOfF(branch)).toEqual({ note: 'late' });
    await branch.merge({ conflicts: 'branch' });
    expect(await noteOfF(client)).toEqual({ note: 'late' });
  });

  /**
   * A transaction of another tab, for which the writes and the merge of this tab wait. Returns a function that ends it.
   */
  async function holdWrites(): Promise<() => Promise<void>> {
    const tab = await device.createClient({ name: 'budget', schema });
    const other = await tab.openBranch('what if');
    clients.push(tab, other);
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const held = other.transaction(async (tx) => {
      await tx.query('SELECT 1');
      begun.resolve();
      await end.promise;
    });
    await begun.promise;
    return async () => {
      end.resolve();
      await held;
    };
  }

  it('fails in an open document too, which reports it', async () => {
    const branch = await begin();
    const document = await branch.document<{ body: string }>('entry', ['e'], 'details');
    const letGo = await holdWrites();
    const merged = branch.merge();
    await new Promise((resolve) => setTimeout(resolve));
    document.change((value) => ({ ...value, body: 'late' }));
    const saved = document.saved().catch((error: unknown) => error);
    await letGo();
    await merged;
    expect(await saved).toMatchObject({ code: 'branch-ended' });
  });

  it('is merged if it was typed into an open document during an earlier write', async () => {
    const branch = await begin();
    const document = await branch.document<{ body: string }>('entry', ['e'], 'details');
    await (await branch.document('entry', ['e'], 'details')).close();
    const letGo = await holdWrites();
    document.change((value) => ({ ...value, body: 'first' }));
    await Promise.resolve(); // Its write waits for the transaction.
    document.change((value) => ({ ...value, body: 'first and second' }));
    const merged = branch.merge();
    await new Promise((resolve) => setTimeout(resolve));
    await letGo();
    await merged;
    expect(await client.query("SELECT details ->> 'body' AS body FROM entry WHERE id = 'e'")).toEqual([
      { body: 'first and second' },
    ]);
  });

  it('is lost if it was typed into a document whose row was deleted, and the rest of the branch is merged', async () => {
    const branch = await begin();
    const document = await branch.document<{ body: string }>('entry', ['e'], 'details');
    const deleted = branch.execute("DELETE FROM entry WHERE id = 'e'");
    document.change((value) => ({ ...value, body: 'too late' }));
    await deleted;
    await expect(document.saved()).rejects.toMatchObject({ code: 'document-gone' });
    await branch.merge();
    expect(await client.query('SELECT id FROM entry')).toEqual([{ id: 'f' }]);
  });

  it('of two merges at once, the second finds the branch ended', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET hits = hits + 1 WHERE id = 'e'");
    const [first, second] = await Promise.allSettled([branch.merge(), branch.merge()]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ reason: { code: 'branch-ended' } });
    expect(await client.query("SELECT hits FROM entry WHERE id = 'e'")).toEqual([{ hits: 6 }]);
  });
});

describe('the branch API', () => {
  it('rejects a merge and a discard of a branch that was closed, which stays', async () => {
    const branch = await begin();
    await branch.close();
    const calls = [branch.merge(), branch.discard(), branch.preview(), branch.query('SELECT 1')];
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ code: 'client-closed' })));
    clients.push(await client.openBranch('what if'));
  });

  it('leaves nothing open if the origin is closed while a branch is opened', async () => {
    await (await begin()).close();
    const tab = await device.createClient({ name: 'budget', schema });
    const opening = tab.openBranch('what if').catch((error: unknown) => error);
    await tab.close();
    expect(await opening).toMatchObject({ code: 'client-closed' });
    // Deletes the branch too, which no tab may have open.
    await client.leave({ discardUnsent: true });
  });

  it('ends a branch that another tab merges while it is opened', async () => {
    const branch = await begin();
    const tab = await device.createClient({ name: 'budget', schema });
    clients.push(tab);
    const query = tab.query.bind(tab);
    vi.spyOn(tab, 'query').mockImplementationOnce(async (...asked: Parameters<typeof query>) => {
      const rows = await query(...asked);
      await branch.merge();
      return rows;
    });
    await expect(tab.openBranch('what if')).rejects.toMatchObject({ code: 'branch-ended', fields: { by: 'merge' } });
    expect(await client.listBranches()).toEqual([]);
  });

  it('lets an app close a branch just when another tab discards it', async () => {
    const branch = await begin();
    const tab = await device.createClient({ name: 'budget', schema });
    const other = await tab.openBranch('what if');
    clients.push(tab, other);
    const closed = Promise.withResolvers<void>();
    other.live('SELECT 1').subscribe(({ error }) => {
      if (error?.code === 'client-closed') closed.resolve(other.close());
    });
    await branch.discard();
    await closed.promise;
    expect(await client.listBranches()).toEqual([]);
  });

  it('reports what a listener throws in a live query of a branch that has ended', async () => {
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    const branch = await begin();
    await branch.discard();
    const thrown = new Error('of the app');
    branch.live('SELECT 1').subscribe(() => {
      throw thrown;
    });
    expect(reported).toHaveBeenCalledExactlyOnceWith(thrown);
    vi.unstubAllGlobals();
  });

  it('rejects a branch of a branch', async () => {
    const branch = await begin();
    const error = { code: 'branch-of-branch', fields: { branch: 'what if' } };
    await expect(branch.branch('more')).rejects.toMatchObject(error);
    await expect(branch.openBranch('more')).rejects.toMatchObject(error);
  });

  it('rejects a name in use, an invalid name, and a missing branch', async () => {
    await begin();
    await expect(client.branch('what if')).rejects.toMatchObject({ code: 'branch-exists' });
    for (const name of ['', 'x'.repeat(33), 'a\0'])
      await expect(client.branch(name)).rejects.toMatchObject({ code: 'config-invalid' });
    await expect(client.openBranch('other')).rejects.toMatchObject({ code: 'branch-missing' });
    await (await begin('ü'.repeat(16))).discard();
  });

  it.each(['merge', 'discard'] as const)('rejects every call after %s, in every tab', async (by) => {
    const branch = await begin();
    const tab = await device.createClient({ name: 'budget', schema });
    clients.push(tab);
    const other = await tab.openBranch('what if');
    clients.push(other);
    await branch.execute("UPDATE entry SET note = 'x'");
    await branch[by]();
    for (const ended of [branch, other]) {
      const error = { code: 'branch-ended', fields: { branch: 'what if', by } };
      await expect(ended.query('SELECT 1')).rejects.toMatchObject(error);
      await expect(ended.execute('DELETE FROM entry')).rejects.toMatchObject(error);
      await expect(ended.execute('DELETE FROM entry').catch(() => ended.diff())).rejects.toMatchObject(error);
      for (const call of ['diff', 'preview', 'merge', 'discard'] as const)
        await expect(ended[call]()).rejects.toMatchObject(error);
      expect(() => ended.stream('SELECT 1')).toThrow(expect.objectContaining(error) as Error);
      // A page that still shows the branch renders again.
      const live = ended.live('SELECT 1');
      expect(ended.live('SELECT 1')).toBe(live);
      expect(live.current).toMatchObject({ rows: [], error, loading: false });
      const heard: unknown[] = [];
      live.subscribe((state) => heard.push(state))();
      for await (const state of live) heard.push(state);
      expect(heard).toEqual([live.current, live.current]);
    }
    await expect(tab.openBranch('what if')).rejects.toMatchObject({ code: 'branch-missing' });
    await (await begin()).discard();
  });

  it('is missing, and its name free again, if its creation was interrupted', async () => {
    const medium = memoryMedium();
    const interrupted = await createDeviceOn(medium).createClient({ name: 'budget', schema });
    clients.push(interrupted);
    const empty = await openStorage({ name: branchFile('budget', 'what if'), medium, role: 'writer' });
    await empty.close();
    // Another tab is creating it, so its file is not removed until that tab has ended.
    const lock = `rockpool-branch:${branchFile('budget', 'what if')}`;
    let opened: unknown = null;
    await navigator.locks.request(lock, async () => {
      opened = interrupted.openBranch('what if').catch((error: unknown) => error);
      while (!(await navigator.locks.query()).pending?.some(({ name }) => name === lock))
        await new Promise((resolve) => setTimeout(resolve));
      expect(await interrupted.listBranches()).toMatchObject([{ name: 'what if' }]);
    });
    expect(await opened).toMatchObject({ code: 'branch-missing' });
    expect(await interrupted.listBranches()).toEqual([]);
    await (await interrupted.branch('what if')).discard();
  });

  it('rejects a merge after the origin was migrated, and the branch stays readable', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET note = 'ours' WHERE id = 'e'");
    await branch.close();
    await client.close();
    const added = sqliteTable('added', { id: text().primaryKey() });
    client = await device.createClient({ name: 'budget', schema: defineSchema({ ...TABLES, added }, MERGE) });
    clients.push(client);
    const again = await client.openBranch('what if');
    clients.push(again);
    const error = {
      code: 'branch-schema-changed',
      fields: {
        branch: 'what if',
        branchSchemaHash: schema.hash,
        schemaHash: defineSchema({ ...TABLES, added }, MERGE).hash,
      },
    };
    await expect(again.merge()).rejects.toMatchObject(error);
    await expect(again.preview()).rejects.toMatchObject(error);
    expect(await again.diff()).toMatchObject([{ key: ['e'], changes: [{ after: 'ours' }] }]);
    expect(await client.listBranches()).toHaveLength(1);
  });

  it('changes neither branch nor origin if a constraint rejects the merge', async () => {
    const branch = await begin();
    await branch.execute("INSERT INTO account VALUES ('c', 'savings')");
    await branch.execute("UPDATE entry SET account_id = 'b', note = 'ours' WHERE id = 'e'");
    await client.execute("INSERT INTO account VALUES ('d', 'savings')");
    await expect(branch.merge()).rejects.toMatchObject({ code: 'constraint-unique' });
    expect(await client.query("SELECT note FROM entry WHERE id = 'e'")).toEqual([{ note: 'market' }]);
    await branch.execute("UPDATE account SET name = 'savings 2' WHERE id = 'c'");
    await branch.merge();
    expect(await client.query("SELECT note FROM entry WHERE id = 'e'")).toEqual([{ note: 'ours' }]);
    expect(await client.query('SELECT name FROM account ORDER BY id')).toHaveLength(4);
  });

  it('rejects a merge that breaks a foreign key when it commits', async () => {
    const branch = await begin();
    await branch.execute("UPDATE entry SET account_id = 'b' WHERE id = 'e'");
    await client.execute("DELETE FROM entry WHERE id = 'f'");
    await client.execute("DELETE FROM account WHERE id = 'b'");
    await expect(branch.merge()).rejects.toMatchObject({ code: 'constraint-foreign-key' });
    expect((await branch.diff()).map(({ key }) => key)).toEqual([['e']]);
  });
});
