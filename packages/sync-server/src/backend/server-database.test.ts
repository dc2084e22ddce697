import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insert, remove, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import type { BackendChangeset } from '../database/backend-writes.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { collectChangeset, type BackendTransaction } from './backend-transaction.ts';
import type { FeedChange } from './change-feed.ts';
import type { ServerDatabase } from './server-database.ts';
import type { ChangesetToValidate } from '../admission/validate.ts';

let rule: (databaseId: string, changeset: ChangesetToValidate) => string | null = () => null;
const tested = serverUnderTest({ validate: (databaseId, changeset) => rule(databaseId, changeset) });
afterEach(() => {
  rule = () => null;
});

let backend: ServerDatabase;
beforeEach(() => {
  backend = tested.server.sync.database(DATABASE);
});

describe('a backend write', () => {
  it('syncs like a client’s write, and is durable when its promise resolves', async () => {
    const client = await tested.server.open();
    const watermark = await backend.transaction((tx) => {
      tx.insert('accounts', { id: 'a', name: 'Cash', rank: 1 });
      tx.insert('entries', { id: 'e', account_id: 'a', amount: 5, weight: 2, receipt: Uint8Array.of(1) });
    });
    expect(watermark).toBe(1);
    expect((await client.delivery()).groups.map(({ kind, keys }) => [kind, keys[0]?.[0]]).sort(byKind)).toEqual([
      ['insert', 'a'],
      ['insert', 'e'],
    ]);
    // The stored value has the column's type, not the program's.
    expect(tested.server.query('SELECT typeof(rank), (SELECT typeof(weight) FROM entries) FROM accounts')).toEqual([
      ['integer', 'real'],
    ]);
    await backend.transaction((tx) => {
      expect(tx.query('SELECT name FROM accounts WHERE id = ?', 'a')).toEqual([['Cash']]);
      tx.update('accounts', { id: 'a' }, { name: 'Bank' });
      tx.delete('entries', { id: 'e' });
    });
    expect(
      (await client.delivery()).groups
        .map(({ kind, keys, values }) => [kind, keys[0]?.[0], values[0]?.[0]])
        .sort(byKind),
    ).toEqual([
      ['delete', 'e', undefined],
      ['update', 'a', 'Bank'],
    ]);
    await client.commit([update('accounts', 'a', { name: 'Card' })]);
    expect(tested.server.query('SELECT name FROM accounts')).toEqual([['Card']]);
  });

  it('edits a document while a client edits it too, and gets a typed error for invalid JSON', async () => {
    await backend.transaction((tx) => tx.insert('pages', { id: 'p', content: '{"title":"Plan","body":"ab"}' }));
    const seen = await backend.changesAfter(null);
    await backend.transaction((tx) => tx.update('pages', { id: 'p' }, { content: '{"title":"Plan","body":"abc"}' }));
    const [edit] = (await backend.changesAfter(seen))?.rows ?? [];
    expect(edit).toMatchObject({
      table: 'pages',
      kind: 'update',
      key: { id: 'p' },
      values: { content: '{"body":"abc","title":"Plan"}' },
    });
    await backend.transaction((tx) => tx.update('pages', { id: 'p' }, { content: '{"title":"Next","body":"abc"}' }));
    const client = await tested.server.open();
    await client.commit([update('pages', 'p', { title: 'Page' })]);
    expect(tested.server.query('SELECT title, content FROM pages')).toEqual([
      ['Page', '{"body":"abc","title":"Next"}'],
    ]);
    await backend.transaction((tx) => tx.update('pages', { id: 'p' }, { content: null }));
    expect(tested.server.query('SELECT content FROM pages')).toEqual([[null]]);
    const written = (content: string | number): Promise<unknown> =>
      backend.transaction((tx) => tx.update('pages', { id: 'p' }, { content }));
    await expect(written('{')).rejects.toMatchObject({ code: 'document-invalid' });
    await expect(written(5)).rejects.toMatchObject({ code: 'value-invalid' });
  });

  it('continues after a restart, and adds to counters instead of setting them', async () => {
    await backend.transaction((tx) => tx.insert('products', { id: 'p', stock: 10, price: 3, currency: 'EUR' }));
    const client = await tested.server.open();
    await tested.restart();
    backend = tested.server.sync.database(DATABASE);
    await backend.transaction((tx) => tx.update('products', { id: 'p' }, { stock: 12, price: 4 }));
    const again = await tested.server.open(client.site);
    // The changeset was written before the client received the two writes.
    await again.commit([update('products', 'p', { stock: 5n })], { base: 1 });
    expect(tested.server.query('SELECT stock, price, currency FROM products')).toEqual([[17n, 4n, 'EUR']]);
    expect(
      tested.server.query(`SELECT count(*), count(DISTINCT site_number) FROM rockpool_log WHERE principal = 'server'`),
    ).toEqual([[2n, 1n]]);
  });

  it('gives omitted columns their default, like an insert of SQL', async () => {
    await backend.transaction((tx) => {
      tx.insert('entries', { id: 'e' });
      tx.insert('entries', { id: 'f', amount: 7 });
    });
    expect(tested.server.query('SELECT id, amount, note FROM entries ORDER BY id')).toEqual([
      ['e', 0n, null],
      ['f', 7n, null],
    ]);
  });

  it('does not insert over a row that exists, whose other columns it would reset, but over a deleted one', async () => {
    await backend.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'Cash', rank: 7 }));
    const client = await tested.server.open();
    await client.commit([insert('accounts', 'b', { name: 'Bank', rank: 8n })]);
    for (const id of ['a', 'b'])
      await expect(backend.transaction((tx) => tx.insert('accounts', { id, name: id }))).rejects.toMatchObject({
        code: 'constraint-primary-key',
        fields: { table: 'accounts' },
      });
    expect(tested.server.query('SELECT name, rank FROM accounts ORDER BY id')).toEqual([
      ['Cash', 7n],
      ['Bank', 8n],
    ]);
    await backend.transaction((tx) => tx.delete('accounts', { id: 'a' }));
    await backend.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'Card' }));
    expect(tested.server.query("SELECT name FROM accounts WHERE id = 'a'")).toEqual([['Card']]);
  });

  it('fails if another commit has deleted its row since it was built, and writes nothing', async () => {
    const live = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), { onFailure: () => undefined });
    const built = (body: (tx: BackendTransaction) => void): BackendChangeset =>
      collectChangeset(live.file, body) as BackendChangeset;
    const write = ({ body, rows }: BackendChangeset): Promise<number> => live.write(body, 'server', Date.now(), rows);
    await write(built((tx) => tx.insert('accounts', { id: 'a', name: 'Cash' })));
    const [first, ...others] = [
      built((tx) => tx.delete('accounts', { id: 'a' })),
      built((tx) => tx.delete('accounts', { id: 'a' })),
      built((tx) => tx.update('accounts', { id: 'a' }, { name: 'Bank' })),
    ] as const;
    expect(await write(first)).toBe(2);
    for (const other of others)
      await expect(write(other)).rejects.toMatchObject({ code: 'row-missing', fields: { table: 'accounts' } });
    expect(live.file.log.watermark).toBe(2);
    await live.close();
  });

  it('revives a row of a table with update-wins that another commit has deleted since the update was built', async () => {
    const live = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), { onFailure: () => undefined });
    const built = (body: (tx: BackendTransaction) => void): BackendChangeset =>
      collectChangeset(live.file, body) as BackendChangeset;
    const write = ({ body, rows }: BackendChangeset): Promise<number> => live.write(body, 'server', Date.now(), rows);
    await write(built((tx) => tx.insert('notes', { id: 'n', title: 'Plan', reads: 1 })));
    const removal = built((tx) => tx.delete('notes', { id: 'n' }));
    const again = built((tx) => tx.delete('notes', { id: 'n' }));
    const change = built((tx) => tx.update('notes', { id: 'n' }, { title: 'Trip' }));
    await write(removal);
    await expect(write(again)).rejects.toMatchObject({ code: 'row-missing' });
    expect(await write(change)).toBe(3);
    expect(live.file.sql.all('SELECT id, title, reads FROM notes')).toEqual([['n', 'Trip', 1n]]);
    await live.close();
  });

  it('sets a column of a group to NULL, and keeps the other columns of the group', async () => {
    await backend.transaction((tx) => tx.insert('products', { id: 'p', stock: 0, price: 3, currency: 'EUR' }));
    await backend.transaction((tx) => tx.update('products', { id: 'p' }, { price: null }));
    expect(tested.server.query('SELECT price, currency FROM products')).toEqual([[null, 'EUR']]);
    await backend.transaction((tx) => tx.update('products', { id: 'p' }, { price: 4, currency: null }));
    expect(tested.server.query('SELECT price, currency FROM products')).toEqual([[4n, null]]);
  });

  it('is atomic, and reports why it was rejected', async () => {
    await backend.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'Cash' }));
    const twice = (): Promise<unknown> =>
      backend.transaction((tx) => {
        tx.insert('accounts', { id: 'b', name: 'Bank' });
        tx.insert('accounts', { id: 'c', name: 'Cash' });
      });
    await expect(twice()).rejects.toThrowError(
      expect.objectContaining({ code: 'constraint-unique', fields: { table: 'accounts', columns: 'name' } }) as Error,
    );
    await expect(
      backend.transaction(() => {
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await expect(backend.transaction((tx) => tx.update('accounts', { id: 'x' }, { name: 'x' }))).rejects.toThrowError(
      expect.objectContaining({ code: 'row-missing' }) as Error,
    );
    await expect(backend.transaction((tx) => tx.insert('rockpool_conflict', {}))).rejects.toThrowError(
      expect.objectContaining({ code: 'schema-unknown-table' }) as Error,
    );
    await expect(backend.transaction((tx) => tx.insert('accounts', { id: 'd', nam: 'x' }))).rejects.toThrowError(
      expect.objectContaining({ code: 'schema-unknown-column' }) as Error,
    );
    await expect(
      backend.transaction((tx) => tx.insert('accounts', { id: 'd', name: 'd', rank: 0.5 })),
    ).rejects.toThrowError(expect.objectContaining({ code: 'value-invalid' }) as Error);
    await expect(
      backend.transaction((tx) => tx.insert('accounts', { id: 'd', name: 'd', rank: 'first' })),
    ).rejects.toThrowError(
      expect.objectContaining({
        code: 'constraint-data-type',
        fields: { table: 'accounts', column: 'rank', columnType: 'integer', valueType: 'text' },
      }) as Error,
    );
    await expect(
      backend.transaction((tx) => tx.insert('labels', { entry_id: 'e', position: 'first' })),
    ).rejects.toThrowError(expect.objectContaining({ code: 'key-invalid' }) as Error);
    expect(await backend.transaction(() => undefined)).toBeNull();
    expect(tested.server.query('SELECT id FROM accounts')).toEqual([['a']]);
    expect(() => tested.server.sync.database('../etc')).toThrowError(
      expect.objectContaining({ code: 'auth-database-forbidden' }) as Error,
    );
  });
});

it.each(['', 'a\0b', 7])('a backend write of the principal %j is refused', async (principal) => {
  const written = backend.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'a' }), { principal } as never);
  await expect(written).rejects.toMatchObject({ code: 'config-invalid' });
  expect(await backend.changesAfter(null)).toMatchObject({ rows: [] });
});

describe('an asynchronous body', () => {
  it('is rejected, because writes after its first await would be lost', async () => {
    const body = async (tx: BackendTransaction): Promise<void> => {
      tx.insert('accounts', { id: 'a', name: 'Cash' });
      await Promise.resolve();
      tx.insert('accounts', { id: 'b', name: 'Bank' });
    };
    // TypeScript accepts it; only a linter warns.
    await expect(backend.transaction(body as (tx: BackendTransaction) => void)).rejects.toMatchObject({
      code: 'transaction-ended',
      fields: { problem: expect.any(String) as string },
    });
    expect(tested.server.query('SELECT count(*) FROM accounts')).toEqual([[0n]]);
  });

  it('cannot write after the transaction, through a `tx` that it kept', async () => {
    let kept: BackendTransaction | undefined;
    await backend.transaction((tx) => {
      kept = tx;
      tx.insert('accounts', { id: 'a', name: 'Cash' });
    });
    expect(() => kept?.insert('accounts', { id: 'b', name: 'Bank' })).toThrowError(
      expect.objectContaining({ code: 'transaction-ended' }) as Error,
    );
  });
});

describe('validate', () => {
  it('rejects a changeset with a reason, and receives the rows before and after', async () => {
    const seen: ChangesetToValidate[] = [];
    rule = (databaseId, changeset) => {
      expect(databaseId).toBe(DATABASE);
      seen.push(changeset);
      return changeset.changes.some(
        ({ table, after }) => table === 'products' && after !== null && (after['stock'] as bigint) < 0n,
      )
        ? 'nothing left in stock'
        : null;
    };
    const client = await tested.server.open();
    await client.commit([insert('products', 'p', { stock: 2n })]);
    // Each addition would be valid alone, but not their sum.
    const other = await tested.server.open();
    await client.commit([update('products', 'p', { stock: -2n })]);
    expect(await other.commit([update('products', 'p', { stock: -1n })], { base: 1 })).toEqual({
      kind: 'rejected',
      sequence: 1,
      code: 'changeset-refused',
      fields: { reason: 'nothing left in stock' },
    });
    expect(tested.server.query('SELECT stock FROM products')).toEqual([[0n]]);
    expect(seen.at(-1)).toMatchObject({
      principal: 'ann',
      changes: [{ table: 'products', key: { id: 'p' }, before: { stock: 0n }, after: { stock: -1n } }],
    });
    await expect(backend.transaction((tx) => tx.update('products', { id: 'p' }, { stock: -5 }))).rejects.toThrowError(
      expect.objectContaining({ code: 'changeset-refused' }) as Error,
    );
    await client.commit([remove('products', 'p')]);
    expect(seen.at(-1)?.changes).toMatchObject([{ after: null }]);
  });

  it('refuses only the current push, and only temporarily, if the rule throws', async () => {
    rule = () => {
      throw new Error('a private detail');
    };
    const client = await tested.server.open();
    client.site.write([insert('accounts', 'a', { name: 'a' })]);
    client.push();
    expect(await client.failure()).toMatchObject({ code: 'database-unavailable' });
    expect(JSON.stringify(tested.server.events)).not.toContain('private');
    rule = () => null;
    const again = await tested.server.open(client.site);
    again.push();
    expect((await again.decided(1)).outcomes).toMatchObject([{ kind: 'admitted' }]);
  });
});

describe.each<[string, () => unknown]>([
  ['returns undefined', () => undefined],
  ['returns false', () => false],
  ['is asynchronous', async () => 'too late'],
  ['rejects', () => Promise.reject(new Error('a private detail'))],
])('validate that %s', (_how, answer) => {
  it('admits nothing, and the log names the problem', async () => {
    rule = answer as typeof rule;
    const client = await tested.server.open();
    client.site.write([insert('accounts', 'a', { name: 'a' })]);
    client.push();
    expect(await client.failure()).toMatchObject({ code: 'database-unavailable' });
    const problem = 'validate returned neither null nor a string';
    expect(tested.server.events.find(({ event }) => event === 'push-failed')?.fields).toMatchObject({ problem });
    expect(tested.server.query('SELECT count(*) FROM accounts')).toEqual([[0n]]);
    rule = () => null;
    const again = await tested.server.open(client.site);
    again.push();
    expect((await again.decided(1)).outcomes).toMatchObject([{ kind: 'admitted' }]);
  });
});

describe('the outcomes of backend writes', () => {
  it('are deleted, because nobody asks for them', async () => {
    for (const id of ['a', 'b']) await backend.transaction((tx) => tx.insert('accounts', { id, name: id }));
    await expect
      .poll(() => tested.server.query('SELECT last_sequence, confirmed_sequence FROM rockpool_site WHERE number > 0'))
      .toEqual([[2n, 2n]]);
  });
});

describe('the change feed of a database whose tombstones are pruned', () => {
  let nowMs = Date.now();
  const pruning = serverUnderTest({ now: () => nowMs, retention: { tombstonesMs: 1_000 }, validate: () => null });

  it('starts over for a service that has missed the deletes', async () => {
    const database = pruning.server.sync.database(DATABASE);
    await database.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'a' }));
    const position = await database.changesAfter(null);
    await database.transaction((tx) => tx.delete('accounts', { id: 'a' }));
    nowMs += 2_000;
    await database.transaction((tx) => tx.insert('accounts', { id: 'b', name: 'b' }));
    expect(await database.changesAfter(position)).toMatchObject({
      whole: true,
      rows: [{ kind: 'insert', key: { id: 'b' } }],
    });
  });
});

describe('the change feed', () => {
  it('yields all rows first, then the changes of every author', async () => {
    await backend.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'Cash' }));
    const heard: FeedChange[] = [];
    const left = new AbortController();
    const following = (async () => {
      for await (const change of backend.changes({ signal: left.signal })) heard.push(change);
    })();
    const client = await tested.server.open();
    await client.commit([update('accounts', 'a', { rank: 7n })]);
    await client.commit([remove('accounts', 'a')]);
    while (heard.at(-1)?.watermark !== 3) await new Promise((resolve) => setImmediate(resolve));
    left.abort();
    await following;
    expect(heard[0]).toMatchObject({
      watermark: 1,
      whole: true,
      rows: [{ table: 'accounts', kind: 'insert', key: { id: 'a' }, values: { name: 'Cash', rank: null } }],
    });
    expect(heard[1]).toMatchObject({
      watermark: 2,
      whole: false,
      rows: [{ kind: 'update', key: { id: 'a' }, values: { rank: 7n } }],
    });
    expect(heard[2]).toMatchObject({ watermark: 3, rows: [{ kind: 'delete', key: { id: 'a' } }] });
  });

  it('continues from a saved position, and starts over if the position belongs to a different log', async () => {
    await backend.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'Cash' }));
    const position = await backend.changesAfter(null);
    expect(await backend.changesAfter(position)).toBeNull();
    for (const rank of [1, 2, 3]) await backend.transaction((tx) => tx.update('accounts', { id: 'a' }, { rank }));
    expect(await backend.changesAfter(position)).toMatchObject({
      whole: false,
      rows: [{ kind: 'update', values: { rank: 3n } }],
    });
    expect(await backend.changesAfter({ logEpoch: '0'.repeat(32), watermark: 1, logHash: '' })).toMatchObject({
      whole: true,
      rows: [{ kind: 'insert' }],
    });
  });

  it('repeats deletes for a service that was interrupted before it saved its position', async () => {
    const start = await backend.changesAfter(null);
    await backend.transaction((tx) => tx.insert('accounts', { id: 'a', name: 'Cash' }));
    const saved = await backend.changesAfter(start);
    await backend.transaction((tx) => tx.insert('accounts', { id: 'b', name: 'Bank' }));
    // The service is interrupted after it has processed these changes.
    await backend.changesAfter(saved);
    await backend.transaction((tx) => {
      tx.delete('accounts', { id: 'a' });
      tx.delete('accounts', { id: 'b' });
    });
    for (const position of [start, saved])
      expect(await backend.changesAfter(position)).toMatchObject({
        whole: false,
        rows: [
          { kind: 'delete', key: { id: 'a' } },
          { kind: 'delete', key: { id: 'b' } },
        ],
      });
    expect(await backend.changesAfter(null)).toMatchObject({ whole: true, rows: [] });
  });

  it('ends when the server closes', async () => {
    const heard: FeedChange[] = [];
    const following = (async () => {
      for await (const change of backend.changes()) heard.push(change);
    })();
    while (heard.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await tested.server.sync.close();
    await following;
    expect(heard).toMatchObject([{ whole: true, rows: [] }]);
    await expect(backend.changesAfter(null)).rejects.toMatchObject({ code: 'database-unavailable' });
  });
});

function byKind(a: readonly unknown[], b: readonly unknown[]): number {
  return String(a).localeCompare(String(b));
}
