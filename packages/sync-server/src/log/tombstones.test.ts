import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_DOCUMENT_RULE, type Delivery, type Welcome } from '@rockpool/shared';
import { createDocument, editDocument, encodeDocumentCell } from '@rockpool/shared/document';
import { insert, remove, update } from '../../testing/changeset.ts';
import { DirectSession } from '../../testing/direct-session.ts';
import { Replica } from '../../testing/replica.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { deliveredRows } from '../../testing/delivered-rows.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { durableInFile } from '../store/durability.ts';

const DAY_MS = 24 * 3600 * 1000;
let nowMs = 0;
const tested = serverUnderTest({
  now: () => nowMs,
  retention: { tombstonesMs: 10 * DAY_MS },
  snapshots: { minFileBytes: 1 },
  authenticate: async () => ({ id: 'ann', databases: [DATABASE], role: 'editor', expiresAtMs: Infinity }),
});

let a: TestConnection;
beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 1);
  a = await tested.server.open();
});

const tombstones = (): unknown =>
  tested.server
    .query('SELECT watermark FROM rockpool_row_version WHERE image IS NOT NULL ORDER BY watermark')
    .map(([watermark]) => Number(watermark));
const conflicts = (): unknown =>
  tested.server.query(
    'SELECT table_name, column_name, rule, lost_value, won_by, won_at_ms FROM rockpool_conflict ORDER BY id',
  );

async function back(site: TestSite): Promise<{ connection: TestConnection; welcome: Welcome; first: Delivery }> {
  const connection = await tested.server.connect(site);
  return { connection, ...(await connection.open(await tested.server.token(), DATABASE)) };
}

/** A site that has received everything and is then disconnected. */
async function away(): Promise<TestSite> {
  const connection = await tested.server.open();
  await connection.close();
  return connection.site;
}

/** Advances the clock beyond the retention of the deletes so far, and commits. */
async function forgetDeletes(): Promise<void> {
  nowMs += 11 * DAY_MS;
  await a.commit([insert('accounts', 'later', { name: 'later' })]);
}

describe('tombstones', () => {
  it('are pruned with the first commit after their retention, and younger ones are kept', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' }), insert('accounts', 'y', { name: 'y' })]);
    await a.commit([remove('accounts', 'x')]);
    nowMs += 6 * DAY_MS;
    await a.commit([remove('accounts', 'y')]);
    nowMs += 4 * DAY_MS;
    await a.commit([insert('labels', ['a', 1n], {})]);
    expect(tombstones()).toEqual([2, 3]);
    nowMs += 1;
    await a.commit([insert('labels', ['a', 2n], {})]);
    expect(tombstones()).toEqual([3]);
  });

  it('are kept if the commit that prunes them is rolled back', () => {
    const file = openDatabaseFile(':memory:', TEST_SCHEMA);
    const live = new LiveDatabase(file, { onFailure: () => undefined });
    const author = new DirectSession(live, new Replica(), 0);
    for (const change of [insert('notes', 'n', { reads: 0n }), remove('notes', 'n')]) author.replica.write([change]);
    author.push(1, 2, 0);
    live.settle();
    const failing = (): unknown =>
      durableInFile(file).commit(() => {
        file.tombstones.prune(DAY_MS, 2, 2 * DAY_MS);
        expect(file.tombstones.tombstoneHorizon).toBe(2);
        throw new Error('changed my mind');
      });
    expect(failing).toThrow('changed my mind');
    expect(file.tombstones.tombstoneHorizon).toBe(0);
    file.sql.close();
  });

  it('are pruned in time after a clock that was ahead, and not too early after one that was behind', async () => {
    await a.commit(['v', 'x', 'y', 'z'].map((key) => insert('accounts', key, { name: key })));
    nowMs += 400 * DAY_MS;
    await a.commit([remove('accounts', 'v')]);
    nowMs -= 400 * DAY_MS;
    await a.commit([remove('accounts', 'x')]);
    nowMs += 6 * DAY_MS;
    await a.commit([remove('accounts', 'y')]);
    const rightMs = nowMs;
    nowMs = 0;
    await a.commit([remove('accounts', 'z')]);
    nowMs = rightMs + 5 * DAY_MS;
    await a.commit([insert('labels', ['a', 1n], {})]);
    expect(tombstones()).toEqual([4, 5]);
  });

  it('are pruned in parts if many rows were deleted', async () => {
    const keys = Array.from({ length: 250 }, (_, i) => BigInt(i));
    await a.commit(keys.map((position) => insert('labels', ['a', position], {})));
    for (const position of keys) await a.commit([remove('labels', ['a', position])]);
    await forgetDeletes();
    expect(tombstones()).toHaveLength(150);
    await a.commit([insert('labels', ['b', 1n], {})]);
    await a.commit([insert('labels', ['b', 2n], {})]);
    expect(tombstones()).toEqual([]);
  });
});

describe('a site that was offline', () => {
  it('gets a full resync if tombstones were pruned meanwhile, and follows the log afterwards [MR-33]', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    const site = await away();
    await a.commit([remove('accounts', 'x')]);
    await forgetDeletes();
    const { connection, welcome, first } = await back(site);
    expect(welcome).toMatchObject({ fullResync: true, watermark: 3 });
    expect(first).toMatchObject({ whole: true, from: 0, to: 3 });
    expect(deliveredRows(first, 'accounts')).toMatchObject([{ kind: 'insert', key: ['later'] }]);
    await connection.close();
    expect((await back(site)).welcome.fullResync).toBe(false);
  });

  it('gets only changes if it had seen all pruned deletes', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' }), insert('accounts', 'y', { name: 'y' })]);
    await a.commit([remove('accounts', 'x')]);
    const site = await away();
    nowMs += 5 * DAY_MS;
    await a.commit([remove('accounts', 'y')]);
    nowMs += 6 * DAY_MS;
    await a.commit([insert('accounts', 'z', { name: 'z' })]);
    expect(tombstones()).toEqual([3]);
    const { welcome, first } = await back(site);
    expect(welcome.fullResync).toBe(false);
    expect(deliveredRows(first, 'accounts')).toMatchObject([
      { kind: 'delete', key: ['y'] },
      { kind: 'insert', key: ['z'] },
    ]);
  });

  it('never needs a full resync if nothing was deleted', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    const site = await away();
    await forgetDeletes();
    expect((await back(site)).welcome.fullResync).toBe(false);
  });

  it('gets all rows if it is new', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    await a.commit([remove('accounts', 'x')]);
    await forgetDeletes();
    const { welcome, first } = await back(new TestSite());
    expect(welcome.fullResync).toBe(false);
    expect(deliveredRows(first, 'accounts')).toMatchObject([{ kind: 'insert', key: ['later'] }]);
  });

  it('gets a full resync if others deleted its own insert before it received the outcome', async () => {
    const site = new TestSite();
    site.logEpoch = a.site.logEpoch;
    site.write([insert('accounts', 'mine', { name: 'mine' })]);
    const { connection } = await back(site);
    connection.push();
    connection.cut();
    await a.delivery();
    await a.commit([remove('accounts', 'mine')]);
    await forgetDeletes();
    expect(site.cursor).toBe(0);
    const { welcome, first } = await back(site);
    expect(welcome.fullResync).toBe(true);
    expect(first).toMatchObject({ whole: true, outcomes: [{ kind: 'admitted', sequence: 1 }] });
  });
});

describe('a snapshot from before a pruned delete', () => {
  it('is not continued: the client that holds it is offered another one', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    const { logEpoch, cursor, logHashes } = a.site;
    const snapshot = {
      logEpoch: logEpoch as Uint8Array,
      watermark: cursor,
      logHash: logHashes.get(cursor) as Uint8Array,
    };
    const takesAnother = async (): Promise<boolean> => {
      const connection = await tested.server.connect();
      connection.hello(await tested.server.token(), DATABASE, { snapshot });
      return (await connection.next('welcome')).takeSnapshot;
    };
    await a.commit([remove('accounts', 'x')]);
    expect(await takesAnother()).toBe(false);
    await forgetDeletes();
    expect(await takesAnother()).toBe(true);
  });

  it('is not served again: the server builds another one', async () => {
    const watermark = async (): Promise<string | null> => {
      const token = await tested.server.token();
      const response = await tested.server.ask('GET', `/databases/${DATABASE}/snapshot?schema=${TEST_SCHEMA.hash}`, {
        token,
      });
      await response.arrayBuffer();
      return response.headers.get('rockpool-watermark');
    };
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    expect(await watermark()).toBe('1');
    await a.commit([remove('accounts', 'x')]);
    expect(await watermark()).toBe('1');
    await forgetDeletes();
    expect(await watermark()).toBe('3');
  });
});

describe('a write from before a pruned delete', () => {
  async function pending(table: string, key: string): Promise<TestSite> {
    const site = await away();
    await a.commit([remove(table, key)]);
    await forgetDeletes();
    return site;
  }

  async function pushed(site: TestSite): Promise<TestConnection> {
    const { connection } = await back(site);
    connection.push();
    return connection;
  }

  it.each(['accounts', 'notes'])(
    'does not bring the row of %s back: an update loses to a delete whose tombstone is pruned [MR-34]',
    async (table) => {
      const column = table === 'accounts' ? 'name' : 'title';
      await a.commit([insert(table, 'x', { [column]: 'x', ...(table === 'notes' ? { reads: 0n } : {}) })]);
      const site = await pending(table, 'x');
      site.write([update(table, 'x', { [column]: 'mine' })], { ageMs: 12 * DAY_MS, base: 1 });
      const connection = await pushed(site);
      const { outcomes, groups } = await connection.decided(1);
      expect(outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
      expect(groups.map(({ kind }) => kind)).toContain('delete');
      expect(tested.server.query(`SELECT id FROM ${table} WHERE id = 'x'`)).toEqual([]);
      expect(conflicts()).toEqual([[table, column, 'delete-wins', 'mine', '', 0n]]);
    },
  );

  it('is admitted with its transaction if it edits a document, but its conflict has no value [MR-36]', async () => {
    await a.commit([
      insert('pages', 'x', { title: 'x', content: encodeDocumentCell({ kind: 'content', json: '{"n":1}' }) }),
    ]);
    const site = await pending('pages', 'x');
    const author = { site: Buffer.from(site.siteId).toString('hex'), generation: 1 };
    const { edit } = editDocument(
      createDocument({ n: 1 }, DEFAULT_DOCUMENT_RULE),
      { n: 2 },
      DEFAULT_DOCUMENT_RULE,
      author,
    );
    site.write([update('pages', 'x', { content: edit }), insert('accounts', 'mine', { name: 'mine' })], { base: 1 });
    const connection = await pushed(site);
    expect((await connection.decided(1)).outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
    expect(conflicts()).toEqual([['pages', 'content', 'delete-wins', null, '', 0n]]);
    expect(tested.server.query('SELECT path FROM rockpool_conflict')).toEqual([['[]']]);
    expect(tested.server.query("SELECT name FROM accounts WHERE id = 'mine'")).toEqual([['mine']]);
  });

  it('is rejected if it inserts a child of the deleted parent, and its author keeps it [MR-39]', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    const site = await pending('accounts', 'x');
    site.write([insert('entries', 'e', { account_id: 'x', amount: 1n })], { base: 1 });
    const connection = await pushed(site);
    expect((await connection.decided(1)).outcomes).toMatchObject([
      { kind: 'rejected', code: 'constraint-foreign-key' },
    ]);
  });

  it('is admitted without effect if it deletes again, and as a new row if it inserts [MR-37] [MR-38]', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    const site = await pending('accounts', 'x');
    site.write([remove('accounts', 'x')], { base: 1 });
    site.write([insert('accounts', 'x', { name: 'again' })], { base: 1 });
    const connection = await pushed(site);
    expect((await connection.decided(2)).outcomes).toMatchObject([
      { kind: 'admitted', conflictCount: 0 },
      { kind: 'admitted', conflictCount: 0 },
    ]);
    expect(tested.server.query(`SELECT name FROM accounts WHERE id = 'x'`)).toEqual([['again']]);
  });

  it('loses to a row that was inserted again under the same key [MR-35]', async () => {
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    const site = await pending('accounts', 'x');
    await a.commit([insert('accounts', 'x', { name: 'new' })]);
    site.write([update('accounts', 'x', { name: 'mine' })], { base: 1 });
    const connection = await pushed(site);
    expect((await connection.decided(1)).outcomes).toMatchObject([{ kind: 'admitted', conflictCount: 1 }]);
    expect(tested.server.query(`SELECT name FROM accounts WHERE id = 'x'`)).toEqual([['new']]);
  });
});
