import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { insert } from '../../../testing/changeset.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { createShards, listOf, openShards, startInstance, type TestShard } from '../../../testing/shards-under-test.ts';
import { TestSite, type TestConnection } from '../../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../../testing/test-schema.ts';
import { DATABASE, TestServer } from '../../../testing/test-server.ts';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';
import { runDatabases } from '../../cli/databases.ts';
import { runDoctor } from '../../cli/doctor.ts';
import { runMembers } from '../../cli/members.ts';
import type { Sources } from '../../cli/settings.ts';
import { rankShards } from '../../postgres/shard.ts';
import type { Readiness } from '../store.ts';
import { ShardedStore } from './sharded-store.ts';
import { Shards, type OpenShard } from './shards.ts';

const postgres = postgresUnderTest();

/** The ids of the databases in a shard. */
async function idsIn(shard: TestShard): Promise<string[]> {
  const rows = await postgres.server.query(
    shard.database,
    `SELECT id FROM rockpool.rockpool_database WHERE move_role IS NULL ORDER BY id`,
  );
  return rows.map(([id]) => id as string);
}

async function write(server: TestServer, databaseId: string, id: string): Promise<TestConnection> {
  const connection = await server.open(new TestSite(), { databaseId });
  await connection.commit([insert('accounts', id, { name: id })]);
  return connection;
}

describe('several PostgreSQL servers', () => {
  it.each(atLevel({ test: [1], verify: [1, 2] }))(
    'have each database at one of them, whichever instance opens it, with %i threads',
    async (threads) => {
      const shards = await createShards(postgres.server, [1, 1]);
      const [here, there] = [await startInstance(shards, { threads }), await startInstance(shards)];
      const ids = Array.from({ length: 6 }, (_, i) => `db-${i}`);
      for (const [i, id] of ids.entries()) await (await write(i % 2 === 0 ? here : there, id, 'x')).close();
      const [inA, inB] = [await idsIn(shards[0] as TestShard), await idsIn(shards[1] as TestShard)];
      expect(new Set([...inA, ...inB])).toEqual(new Set(ids));
      expect(Math.min(inA.length, inB.length)).toBeGreaterThan(0);
      for (const id of ids) {
        const reader = await there.open(new TestSite(), { databaseId: id });
        expect(reader.site.cursor).toBe(1);
        await reader.close();
      }
    },
  );

  it('take new databases by weight, and keep those that existed before', async () => {
    const shards = await createShards(postgres.server, [0, 1]);
    const [a, b] = shards as [TestShard, TestShard];
    const alone = await TestServer.start(temporaryFolder(), { postgres: a.url });
    await (await write(alone, 'old', 'x')).close();
    await alone.stop();
    const server = await startInstance(shards);
    await (await write(server, 'new', 'x')).close();
    const reader = await server.open(new TestSite(), { databaseId: 'old' });
    expect(reader.site.cursor).toBe(1);
    expect([await idsIn(a), await idsIn(b)]).toEqual([['old'], ['new']]);
  });

  it('share members, invitations and revocations, which are stored at the first one', async () => {
    const shards = await createShards(postgres.server, [0, 1]);
    const [here, there] = [await startInstance(shards), await startInstance(shards)];
    await here.sync.members.setRole(DATABASE, 'bob', 'editor');
    const bob = { principal: 'bob', databaseId: DATABASE };
    await (await there.open(new TestSite(), bob)).close();
    await here.sync.members.setRole(DATABASE, 'bob', null);
    const token = await there.token('editor', 'bob');
    for (;;) {
      const connection = await there.connect(new TestSite());
      const refused = await connection.open(token, DATABASE).then(
        () => false,
        () => true,
      );
      await connection.close();
      if (refused) break;
    }
    expect(
      (await postgres.server.query((shards[1] as TestShard).database, 'SELECT * FROM rockpool.rockpool_member')).length,
    ).toBe(0);
  });

  it('stay in use while one of them is unreachable, except for its databases', async () => {
    const shards = await createShards(postgres.server, [1, 1]);
    const [, b] = shards as [TestShard, TestShard];
    const away = { ...b, url: b.url.replace(/:\d+\//, ':1/') };
    const server = await startInstance([shards[0] as TestShard, away]);
    const ids = Array.from({ length: 6 }, (_, i) => `db-${i}`);
    await server.ask('GET', '/ready');
    for (const id of ids) await (await write(server, id, 'x')).close();
    expect(await (await server.ask('GET', '/ready')).json()).toMatchObject({ status: 'ready', unavailableShards: 1 });
    expect(await (await server.ask('GET', '/metrics')).text()).toContain('rockpool_shard_ready{shard="b"} 0');
  });
});

it('several PostgreSQL servers are ready within a deadline while one of them accepts connections and does not respond', async () => {
  vi.useFakeTimers();
  const shard = (name: string, readiness: () => Promise<Readiness>): OpenShard =>
    ({ name, store: { readiness }, connections: {} }) as unknown as OpenShard;
  const silent = shard('silent', () => new Promise(() => undefined));
  const store = new ShardedStore(new Shards([shard('a', () => Promise.resolve('ready')), silent]));
  const asked = store.readiness();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await asked).toBe('ready');
  expect([...store.shardStates]).toEqual([
    ['a', 'ready'],
    ['silent', 'unavailable'],
  ]);
  vi.useRealTimers();
});

describe('a list of shards', () => {
  const problemsOf = async (shards: readonly TestShard[]): Promise<unknown> => {
    const opened = openShards(listOf(shards));
    onTestFinished(() => opened.close());
    return opened.shards.ready().then(
      () => null,
      (error: { readonly fields: Record<string, unknown> }) => error.fields['problems'],
    );
  };

  it('is refused if it does not fit what is stored', async () => {
    const shards = await createShards(postgres.server, [1, 1, 1]);
    const [a, b, c] = shards as [TestShard, TestShard, TestShard];
    const server = await startInstance([a, b]);
    for (let i = 0; i < 6; i++) await (await write(server, `db-${i}`, 'x')).close();
    expect(await problemsOf([a, b, c])).toBeNull();
    expect(await problemsOf([b, a])).toMatch(/another first shard/);
    expect(await problemsOf([a])).toMatch(/the shard b is missing: it has \d databases/);
    expect(await problemsOf([a, { ...b, url: a.url }])).toMatch(
      /b: its url now leads to a different PostgreSQL database/,
    );
    expect(await problemsOf([a, b, { ...b, name: 'd' }])).toMatch(/the same PostgreSQL database as that of b/);
    expect(await problemsOf([a, b])).toBeNull();
  });

  it('is refused if two servers have a database with the same id', async () => {
    const shards = await createShards(postgres.server, [1, 1]);
    for (const { url } of shards) {
      const alone = await TestServer.start(temporaryFolder(), { postgres: url });
      await (await write(alone, 'both', 'x')).close();
      await alone.stop();
    }
    const server = openShards(listOf(shards));
    onTestFinished(() => server.close());
    const first = new ShardedStore(server.shards);
    await expect(server.shards.ready()).rejects.toMatchObject({ code: 'config-invalid' });
    await expect(first.list()).rejects.toMatchObject({ code: 'config-invalid' });
  });

  it('is required of every instance', async () => {
    const shards = await createShards(postgres.server, [1, 1]);
    await startInstance(shards);
    for (const { url } of shards) {
      const alone = await TestServer.start(temporaryFolder(), { postgres: url, schema: TEST_SCHEMA });
      onTestFinished(() => alone.stop());
      await expect(alone.sync.ready()).rejects.toMatchObject({
        code: 'config-invalid',
        fields: { problems: expect.stringContaining('one of several shards') as string },
      });
    }
  });

  it('is required of every command that writes; others may read a shard, whose first one may be unavailable', async () => {
    const shards = await createShards(postgres.server, [0, 1]);
    await (await write(await startInstance(shards), 'there', 'x')).close();
    const [a, b] = shards as [TestShard, TestShard];
    const at = ({ url }: TestShard, ...flags: readonly string[]): Sources => ({
      flags: [...flags, '--postgres', url],
      environment: {},
    });
    const ignore = (): void => undefined;
    const refusal = {
      code: 'config-invalid',
      fields: { problems: expect.stringContaining('--shards FILE') as string },
    };
    // The first shard lacks databases that it could name.
    await expect(runDatabases(at(a, 'list'), ignore)).rejects.toMatchObject(refusal);
    await expect(runDoctor(at(a), ignore)).rejects.toMatchObject(refusal);
    const copy = join(temporaryFolder(), 'copy.sqlite');
    const printed: string[] = [];
    const print = (line: string): void => void printed.push(line);
    await runDatabases(at(b, 'list'), print);
    expect(printed).toEqual(['there']);
    await runDatabases(at(b, 'inspect', 'there'), ignore);
    await runDatabases(at(b, 'export', 'there', copy), ignore);
    await runDoctor(at(b), print);
    expect(printed).toContain('ok       database there');
    for (const shard of shards) {
      await expect(runDatabases(at(shard, 'delete', 'there'), ignore)).rejects.toMatchObject(refusal);
      await expect(runDatabases(at(shard, 'import', 'new', copy), ignore)).rejects.toMatchObject(refusal);
    }
    await expect(runMembers(at(b, 'revoke', DATABASE, 'bob'), ignore)).rejects.toMatchObject(refusal);
    await runMembers(at(a, 'revoke', DATABASE, 'bob'), ignore);
    const stored = (shard: TestShard): Promise<unknown> =>
      postgres.server.query(shard.database, 'SELECT principal, role FROM rockpool.rockpool_member');
    expect([await stored(a), await stored(b)]).toEqual([[['bob', null]], []]);
  });

  it('may not know an empty shard; another instance registers it again for its first database', async () => {
    const shards = await createShards(postgres.server, [1, 1]);
    const server = await startInstance(shards);
    await startInstance(shards.slice(0, 1));
    const ids = Array.from({ length: 20 }, (_, i) => `db-${i}`);
    const id = ids.find((one) => rankShards(one, shards)[0]?.name === 'b') ?? '';
    await (await write(server, id, 'x')).close();
    expect(await idsIn(shards[1] as TestShard)).toEqual([id]);
  });

  it('is examined by the doctor, which registers no shard and places no database', async () => {
    const shards = await createShards(postgres.server, [1, 1, 1]);
    const [a, b, c] = shards as [TestShard, TestShard, TestShard];
    await (await write(await startInstance([a, b]), 'in-use', 'x')).close();
    const alone = await TestServer.start(temporaryFolder(), { postgres: c.url });
    await (await write(alone, 'alone', 'x')).close();
    await alone.stop();
    const stored = (): Promise<unknown> =>
      Promise.all([
        postgres.server.query(a.database, 'SELECT * FROM rockpool.rockpool_shard ORDER BY name'),
        postgres.server.query(a.database, 'SELECT * FROM rockpool.rockpool_directory ORDER BY 1'),
        ...shards.map(({ database }) =>
          postgres.server.query(database, 'SELECT directory FROM rockpool.rockpool_store'),
        ),
      ]);
    const before = await stored();
    const [list, printed] = [join(temporaryFolder(), 'shards.json'), [] as string[]];
    writeFileSync(list, JSON.stringify(listOf(shards)));
    await runDoctor({ flags: ['--shards', list], environment: {} }, (line) => void printed.push(line));
    expect(printed).toEqual(expect.arrayContaining(['ok       database in-use', 'ok       database alone']));
    expect(await stored()).toEqual(before);
  });
});
