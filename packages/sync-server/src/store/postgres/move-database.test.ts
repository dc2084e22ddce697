import { buildSchema } from '@rockpool/shared';
import { describe, expect, it, onTestFinished } from 'vitest';
import { insert } from '../../../testing/changeset.ts';
import { Kill, KilledConnections, Pause, PausedConnections } from '../../../testing/killed-connections.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { createShards, listOf, openShards, startInstance, type TestShard } from '../../../testing/shards-under-test.ts';
import { TestSite, type TestConnection } from '../../../testing/test-client.ts';
import { column, table, TEST_TABLES } from '../../../testing/test-schema.ts';
import type { TestServer } from '../../../testing/test-server.ts';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { PostgresAdministration } from './administration.ts';
import { moveDatabase } from './move-database.ts';

const postgres = postgresUnderTest();

const TAGS = table('tags', [column('id', 'text', { notNull: true })]);

/** About how many of its requests the move is killed at, one in each run. */
const KILLS = atLevel({ test: 3, verify: 1_000 });

interface Setup {
  readonly shards: readonly [TestShard, TestShard];
  readonly server: TestServer;
}

async function setUp(): Promise<Setup> {
  const shards = (await createShards(postgres.server, [1, 0])) as [TestShard, TestShard];
  return { shards, server: await startInstance(shards) };
}

async function move({ shards }: Setup, databaseId: string, to: string, kill: Kill = new Kill()): Promise<string[]> {
  const opened = openShards(listOf(shards), (url) => new KilledConnections(url, kill));
  const steps: string[] = [];
  try {
    await moveDatabase(databaseId, to, opened.shards, (step) => steps.push(step));
  } finally {
    await opened.close();
  }
  return steps;
}

/** Opens a connection, and tries again as long as the database is moving. */
async function openAgain(server: TestServer, databaseId: string, site: TestSite): Promise<TestConnection> {
  for (;;) {
    const connection = await server.connect(site);
    connection.hello(await server.token('editor', 'ann', databaseId), databaseId);
    const message = await connection.next('welcome').catch((error: unknown) => String(error));
    if (typeof message !== 'string') {
      site.logEpoch = message.logEpoch;
      site.databaseIdentity = message.databaseIdentity;
      await connection.delivery();
      return connection;
    }
    expect(message).toContain('database-unavailable');
    await connection.close();
  }
}

/** The rows of a database in a shard, read as the administrator of PostgreSQL. */
async function rowsAt({ database }: TestShard, databaseId: string): Promise<number> {
  const tables = ['accounts', 'rockpool_log', 'rockpool_meta', 'rockpool_site', 'rockpool_commit'];
  const counts = tables.map((table) => `(SELECT count(*) FROM rockpool.${table} WHERE database_id = '${databaseId}')`);
  const [[count] = []] = await postgres.server.query(database, `SELECT (${counts.join(' + ')})::int`);
  return count as number;
}

async function namesAt({ database }: TestShard, databaseId: string): Promise<unknown[]> {
  const rows = await postgres.server.query(
    database,
    `SELECT id FROM rockpool.accounts WHERE database_id = '${databaseId}' ORDER BY id`,
  );
  return rows.map(([id]) => id);
}

describe('a move', () => {
  it('ends the sessions of the database with a retryable error, and the clients continue at their position', async () => {
    const setup = await setUp();
    const { server, shards } = setup;
    const other = await startInstance(shards);
    const connection = await server.open(undefined, { databaseId: 'a' });
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    const untouched = await server.open(undefined, { databaseId: 'b' });
    expect(await move(setup, 'a', 'b')).toEqual([
      'moving a from a to b',
      expect.stringMatching(/^copied it as of commit \d+$/),
      expect.stringMatching(/^followed it to commit \d+$/),
      expect.stringMatching(/^froze it at commit \d+$/),
      'switched it to b',
      'activated it at b',
      'removed it from a',
    ]);
    expect(await connection.failure()).toMatchObject({
      code: 'database-unavailable',
      fields: { problem: 'the database is moving to another PostgreSQL server' },
    });
    const { site } = connection;
    const [epoch, identity] = [site.logEpoch, site.databaseIdentity];
    const again = await openAgain(server, 'a', site);
    expect([site.logEpoch, site.databaseIdentity]).toEqual([epoch, identity]);
    expect(site.cursor).toBe(1);
    const reader = await openAgain(other, 'a', new TestSite());
    await again.commit([insert('accounts', 'y', { name: 'y' })]);
    while (reader.site.cursor < 2) await reader.delivery();
    expect([await rowsAt(shards[0], 'a'), await namesAt(shards[1], 'a')]).toEqual([0, ['x', 'y']]);
    await untouched.commit([insert('accounts', 'z', { name: 'z' })]);
    expect(await move(setup, 'a', 'b')).toEqual(['a is at b']);
    await expect(move(setup, 'nowhere', 'b')).rejects.toMatchObject({ code: 'storage-missing' });
    await Promise.all([again.close(), reader.close(), untouched.close()]);
  });

  it('copies commits that are made meanwhile, and starts over if it is too far behind', async () => {
    const setup = await setUp();
    const { server, shards } = setup;
    const connection = await server.open(undefined, { databaseId: 'a' });
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    for (const keepsCommits of [true, false]) {
      const [from, to] = keepsCommits ? shards : [shards[1], shards[0]];
      const opened = openShards(listOf(shards));
      onTestFinished(() => opened.close());
      const writer = await openAgain(server, 'a', connection.site);
      const steps: string[] = [];
      // Commits between two requests of the move.
      const source = opened.shards.get(from.name).connections;
      const transaction = source.transaction.bind(source);
      let isCopied = false;
      source.transaction = async (databaseId, mode, body) => {
        const result = await transaction(databaseId, mode, body);
        if (!isCopied && mode !== 'READ WRITE') {
          isCopied = true;
          for (let i = 0; i < 3; i++)
            await writer.commit([insert('accounts', `${from.name}${i}`, { name: `${from.name}${i}` })]);
          if (!keepsCommits)
            await postgres.server.query(from.database, `DELETE FROM rockpool.rockpool_commit WHERE database_id = 'a'`);
        }
        return result;
      };
      await moveDatabase('a', to.name, opened.shards, (step) => steps.push(step.replace(/ .*/, '')));
      expect(steps.filter((step) => step === 'copied')).toHaveLength(keepsCommits ? 1 : 2);
      expect(await rowsAt(from, 'a')).toBe(0);
    }
    expect(await namesAt(shards[0], 'a')).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'x']);
  });

  it('fails if an instance migrates the tables meanwhile, so that no value of a new column is lost', async () => {
    const setup = await setUp();
    const { server, shards } = setup;
    const connection = await server.open(undefined, { databaseId: 'a' });
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    const opened = openShards(listOf(shards));
    onTestFinished(() => opened.close());
    const source = opened.shards.get('a').connections;
    const transaction = source.transaction.bind(source);
    source.transaction = async (databaseId, mode, body) => {
      const result = await transaction(databaseId, mode, body);
      if (mode === 'READ WRITE') return result;
      source.transaction = transaction;
      await startInstance(shards, { schema: buildSchema([...TEST_TABLES, TAGS]) });
      return result;
    };
    await expect(moveDatabase('a', 'b', opened.shards, () => undefined)).rejects.toMatchObject({
      code: 'database-unavailable',
      fields: { problem: 'another instance has migrated the tables' },
    });
    const again = await openAgain(server, 'a', connection.site);
    await again.commit([insert('accounts', 'y', { name: 'y' })]);
    expect(await namesAt(shards[0], 'a')).toEqual(['x', 'y']);
  });

  it('can be interrupted at every request: it can be completed later, and clients are served until then', async () => {
    const setup = await setUp();
    const { server, shards } = setup;
    const count = new Kill();
    await (await server.open(undefined, { databaseId: 'counted' })).commit([insert('accounts', 'x', { name: 'x' })]);
    await move(setup, 'counted', 'b', count);
    const stride = Math.max(1, Math.floor(count.count / KILLS));
    for (let request = stride - 1; request < count.count; request += stride) {
      const databaseId = `killed-${request}`;
      const connection = await server.open(undefined, { databaseId });
      await connection.commit([insert('accounts', 'x', { name: 'x' })]);
      const [epoch, identity] = [connection.site.logEpoch, connection.site.databaseIdentity];
      await expect(move(setup, databaseId, 'b', new Kill(request)), `request ${request}`).rejects.toThrow('killed');
      connection.cut();
      // Lets the time limit of the move pass.
      await postgres.server.query(
        shards[0].database,
        `UPDATE rockpool.rockpool_directory SET move_expires = now() - interval '1 second' WHERE move_id IS NOT NULL`,
      );
      const meanwhile = await openAgain(server, databaseId, connection.site);
      await meanwhile.commit([insert('accounts', 'y', { name: 'y' })]);
      meanwhile.cut();
      await move(setup, databaseId, 'b');
      const after = await openAgain(server, databaseId, connection.site);
      await after.commit([insert('accounts', 'z', { name: 'z' })]);
      after.cut();
      expect([connection.site.logEpoch, connection.site.databaseIdentity]).toEqual([epoch, identity]);
      expect([await rowsAt(shards[0], databaseId), await namesAt(shards[1], databaseId)], `request ${request}`).toEqual(
        [0, ['x', 'y', 'z']],
      );
    }
  });

  it('is refused while the database is being deleted, and no instance ends an interrupted deletion', async () => {
    const setup = await setUp();
    const { server, shards } = setup;
    const connection = await server.open(undefined, { databaseId: 'a' });
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    // As if the command had been killed.
    const query = (sql: string): Promise<readonly (readonly unknown[])[]> =>
      postgres.server.query(shards[0].database, sql);
    await query(`UPDATE rockpool.rockpool_database SET move_role = 'deleted'`);
    const deleted = { code: 'database-unavailable', fields: { problem: 'the database is being deleted' } };
    expect(await connection.failure()).toMatchObject(deleted);
    await expect(move(setup, 'a', 'b')).rejects.toMatchObject(deleted);
    const refused = await server.connect();
    refused.hello(await server.token('editor', 'ann', 'a'), 'a');
    expect(await refused.failure()).toMatchObject(deleted);
    expect(await query('SELECT move_role FROM rockpool.rockpool_database')).toEqual([['deleted']]);
    await PostgresAdministration.use(listOf(shards), (administration) => administration.delete('a'));
    expect(await rowsAt(shards[0], 'a')).toBe(0);
    expect((await openAgain(server, 'a', new TestSite())).site.cursor).toBe(0);
  });

  it('does not take effect after another move has begun, whatever requests it still sends', async () => {
    const setup = await setUp();
    const { server, shards } = setup;
    const connection = await server.open(undefined, { databaseId: 'a' });
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    connection.cut();
    // The first command stops at a request; another one moves the database there and back; then the first one
    // continues.
    for (let request = 10, isReached = true; isReached; request += atLevel({ test: 30, verify: 1 })) {
      const pause = new Pause(request);
      const opened = openShards(listOf(shards), (url) => new PausedConnections(url, pause));
      const first = moveDatabase('a', 'b', opened.shards, () => undefined).catch((error: unknown) => error);
      isReached = await pause.reached(first);
      if (isReached) {
        await move(setup, 'a', 'b');
        await move(setup, 'a', 'a');
        pause.end();
      }
      await first;
      await opened.close();
      await move(setup, 'a', 'a');
      const again = await openAgain(server, 'a', connection.site);
      await again.commit([insert('accounts', `after-${request}`, { name: `after ${request}` })]);
      again.cut();
      expect(await rowsAt(shards[1], 'a'), `request ${request}`).toBe(0);
    }
    expect((await namesAt(shards[0], 'a')).length).toBe(connection.site.lastAckedSequence);
  });
});
