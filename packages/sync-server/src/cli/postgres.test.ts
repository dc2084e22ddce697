import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from '@rockpool/shared';
import { beforeEach, expect, it, vi } from 'vitest';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { run } from '../cli.ts';
import { insert } from '../../testing/changeset.ts';
import { column, table, TEST_SCHEMA, TEST_TABLES } from '../../testing/test-schema.ts';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { runCommand as runProcess, serverFlags } from '../../testing/server-process.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { PostgresStore } from '../store/postgres/postgres-store.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const postgres = postgresUnderTest();

let folder: string;
let url: string;
let name: string;
beforeEach(async () => {
  folder = temporaryFolder();
  ({ url, name } = await postgres.server.createDatabase());
});

/** Runs a command in this process, because starting a process for each would take most of the time. */
async function command(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => ((output[stream] += String(text)), true)),
  );
  const code = await run([...args, '--postgres', url]);
  for (const spy of spies) spy.mockRestore();
  return { code, ...output };
}

it('rockpool-server lists, inspects, exports, imports, deletes and examines databases in PostgreSQL', async () => {
  expect((await command('databases', 'list')).stderr).toContain('no server has used');
  const server = await TestServer.start(join(folder, 'data'), { postgres: url });
  const client = await server.open();
  await client.commit([insert('accounts', 'x', { name: 'Cash' })]);
  expect((await command('databases', 'list')).stdout).toBe(`${DATABASE}\n`);
  expect(JSON.parse((await command('databases', 'inspect', DATABASE)).stdout)).toMatchObject({
    watermark: 1,
    sites: 1,
    rowsByTable: { accounts: 1 },
  });
  const copy = join(folder, 'copy.sqlite');
  expect(await command('databases', 'export', DATABASE, copy)).toMatchObject({ code: 0 });
  expect(await command('databases', 'import', DATABASE, copy)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already exists') as string,
  });
  expect((await command('databases', 'import', 'second', `${copy}-none`)).stderr).toContain('-none cannot be read');
  expect((await command('databases', 'export', DATABASE, join(folder, 'none', 'x'))).stderr).toContain(
    'does not exist',
  );
  expect(await command('databases', 'import', 'second', copy)).toMatchObject({ code: 0 });
  expect(await command('databases', 'accept', 'second')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('databases accept needs --data') as string,
  });
  expect((await command('members', 'set', 'second', 'bob', 'editor')).stdout).toBe('bob is editor of second\n');
  expect((await command('members', 'set', 'secnd', 'bob', 'editor')).stdout).toContain('which does not exist');
  const second = await server.open(undefined, { databaseId: 'second' });
  expect(second.site.cursor).toBe(1);
  expect(await second.commit([insert('accounts', 'y', { name: 'Bank' })])).toMatchObject({
    kind: 'admitted',
    watermark: 2,
  });
  expect(await command('databases', 'delete', DATABASE)).toMatchObject({ code: 0 });
  expect((await command('databases', 'list')).stdout).toBe('second\n');
  expect((await client.failure()).code).toBe('database-unavailable');
  const { code, stdout } = await command('doctor');
  // The PostgreSQL of the tests runs without fsync, and doctor reports it.
  expect([code, stdout]).toEqual([1, expect.stringMatching(/fsync = off[^]*ok {7}database second/)]);
  expect(await command('databases', 'inspect', DATABASE)).toMatchObject({ code: 1 });
  // As if the database had been moved to another shard.
  await postgres.server.query(name, `UPDATE rockpool.rockpool_database SET move_id = 1, move_role = 'moved'`);
  expect((await command('doctor')).stdout).toMatch(
    /problem {2}database second: the database was moved to another shard: run doctor with the list of all shards \(--shards FILE\)$/m,
  );
  await postgres.server.query(name, `UPDATE rockpool.rockpool_database SET move_id = NULL`);
  // As if a deletion had been killed.
  await postgres.server.query(name, `UPDATE rockpool.rockpool_database SET move_role = 'deleted'`);
  expect((await command('doctor')).stdout).toContain(
    'problem  database second: the database is being deleted: if no command does this now, run the command again',
  );
  expect(await command('databases', 'delete', 'second')).toMatchObject({ code: 0 });
  expect((await command('databases', 'list')).stdout).toBe('');
  const refusal = { code: 1, stderr: expect.stringContaining('pg_dump') as string };
  const backup = ['backup', join(folder, 'backup')];
  expect(await command(...backup)).toMatchObject(refusal);
  expect(await command(...backup, '--data', folder)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('use --data or --postgres, not both') as string,
  });
  const shards = join(folder, 'shards.json');
  writeFileSync(shards, JSON.stringify([{ name: 'first', url }]));
  expect(await runProcess([...backup, '--shards', shards], { ROCKPOOL_POSTGRES: '' })).toMatchObject(refusal);
  await server.stop();
});

it('no command changes tables of an older version, which its instances could then no longer use', async () => {
  await (await TestServer.start(join(folder, 'data'), { postgres: url })).stop();
  const sql = (text: string): Promise<unknown> => postgres.server.query(name, text);
  await sql('DROP TABLE rockpool.rockpool_history; UPDATE rockpool.rockpool_store SET storage_format = 10');
  for (const args of [['doctor'], ['databases', 'list'], ['databases', 'delete', DATABASE]])
    expect(await command(...args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a different version of the server made the tables') as string,
    });
  expect(await sql('SELECT storage_format FROM rockpool.rockpool_store')).toEqual([[10]]);
  const server = await TestServer.start(join(folder, 'newer'), { postgres: url });
  await server.sync.ready();
  expect(await command('databases', 'list')).toMatchObject({ code: 0 });
  await server.stop();
});

it('members move from a data directory to PostgreSQL, also if the command is repeated', async () => {
  const server = await TestServer.start(join(folder, 'data'), { postgres: url });
  await server.sync.ready();
  const file = join(folder, 'members.sqlite');
  const members = new SqliteMembers(file);
  members.write({ databaseId: DATABASE, principal: 'ann', role: 'owner' });
  members.write({ databaseId: DATABASE, principal: 'bob', role: null });
  const invitation = {
    databaseId: DATABASE,
    role: 'viewer',
    expiresMs: Date.now() + 600_000,
    invitedBy: 'ann',
  } as const;
  members.addInvitation({ ...invitation, codeHash: new Uint8Array(32).fill(1) }, 10, Date.now());
  members.close();
  expect((await command('members', 'import', file)).stdout).toContain('imported 2 roles and 1 invitations');
  expect((await command('members', 'import', file)).stdout).toContain('imported 0 roles and 0 invitations');
  expect((await command('members', 'list', DATABASE)).stdout).toBe('ann\towner\nbob\trevoked\n');
  expect((await command('members', 'invitations', DATABASE)).stdout).toMatch(/^0101010101010101\tviewer\tann\t/);
  await server.stop();
});

it('doctor reports a role that could read the rows of every database', async () => {
  await (await TestServer.start(join(folder, 'data'), { postgres: url })).stop();
  expect((await command('doctor')).stdout).not.toContain('row-level security');
  url = url.replace(/\/\/\w+@/, '//postgres@');
  expect(await command('doctor')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('the role bypasses row-level security') as string,
  });
});

it('an import fails if a client creates the database meanwhile', async () => {
  const server = await TestServer.start(join(folder, 'data'), { postgres: url });
  await (await server.open()).close();
  const copy = join(folder, 'copy.sqlite');
  await command('databases', 'export', DATABASE, copy);
  vi.spyOn(PostgresStore.prototype, 'list').mockResolvedValueOnce([]);
  expect(await command('databases', 'import', DATABASE, copy)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already exists') as string,
  });
  await server.stop();
});

it('PostgreSQL has the schemas of older clients, so its backup includes them', async () => {
  await (await TestServer.start(join(folder, 'data'), { postgres: url })).stop();
  const tags = table('tags', [column('id', 'text', { notNull: true })]);
  const schema = buildSchema([...TEST_TABLES, tags]);
  const server = await TestServer.start(join(folder, 'new'), { postgres: url, schema });
  const old = await server.connect();
  old.hello(await server.token(), DATABASE, { schemaHash: TEST_SCHEMA.hash });
  expect(await old.next('welcome')).toMatchObject({ canWrite: true });
  await server.stop();
});

it('rockpool-server reports problems with PostgreSQL when it starts', async () => {
  const flags = serverFlags(folder);
  expect(await runProcess(['serve', ...flags, '--postgres', 'mysql://host/name'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--postgres takes a URL') as string,
  });
  const answer = await runProcess(['serve', ...flags, '--postgres', 'postgresql://user:secret-word@127.0.0.1:1/name']);
  expect(answer).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot open this database right now') as string,
  });
  expect(answer.stderr).not.toContain('secret-word');
});
