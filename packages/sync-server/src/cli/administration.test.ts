import { createHash } from 'node:crypto';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { revokedEverywhere } from '../auth/member-store.ts';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { run } from '../cli.ts';
import { SERVER_VERSION } from '../sync-server.ts';
import { databasePath } from '../store/data-directory.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { lockFile } from '../store/directory-lock.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { insert } from '../../testing/changeset.ts';
import { runCommand as runProcess, ServerProcess, serverFlags } from '../../testing/server-process.ts';
import { TestConnection, TestSite } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { LOCK } from './backup.ts';

let folder: string;
let data: string;
beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder, 'data');
});

/** Runs a command in this process, because one process per command would take most of the time. */
async function runCommand(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => ((output[stream] += String(text)), true)),
  );
  const code = await run(args);
  for (const spy of spies) spy.mockRestore();
  return { code, ...output };
}

const at = (name: string): string => join(folder, name);
const lines = (text: string): string[] => text.trim().split('\n');

async function connected(server: ServerProcess, site = new TestSite()): Promise<TestConnection> {
  const connection = await TestConnection.connect(server.url, site);
  await connection.open(await server.token(), DATABASE);
  return connection;
}

describe('an administrator', () => {
  it('lists, inspects and exports databases while the server runs, and deletes and imports them while it is stopped', async () => {
    const server = await ServerProcess.start(folder);
    const connection = await connected(server);
    await connection.commit([insert('accounts', 'x', { name: 'Cash' })]);
    expect((await runCommand(['databases', 'list', '--data', data])).stdout).toMatch(
      new RegExp(`^${DATABASE}\\t\\d+ bytes\\n$`),
    );
    const { stdout } = await runCommand(['databases', 'inspect', DATABASE, '--data', data]);
    expect(JSON.parse(stdout)).toMatchObject({ watermark: 1, sites: 1, rowsByTable: { accounts: 1, entries: 0 } });
    expect(await runCommand(['databases', 'export', DATABASE, at('copy.sqlite'), '--data', data])).toMatchObject({
      code: 0,
    });
    expect((await runCommand(['databases', 'delete', DATABASE, '--data', data])).stderr).toContain(
      'another server uses this data directory',
    );
    await server.signal('SIGTERM');
    const exported = readFileSync(at('copy.sqlite'));
    expect(await runCommand(['databases', 'delete', DATABASE, '--data', data])).toMatchObject({ code: 0 });
    expect(existsSync(databasePath(data, DATABASE))).toBe(false);
    expect(await runCommand(['databases', 'import', DATABASE, at('copy.sqlite'), '--data', data])).toMatchObject({
      code: 0,
    });
    expect(readFileSync(at('copy.sqlite')).equals(exported)).toBe(true);
    expect((await runCommand(['databases', 'import', DATABASE, at('copy.sqlite'), '--data', data])).stderr).toContain(
      'already exists',
    );
    const again = await ServerProcess.start(folder);
    expect((await connected(again)).site.cursor).toBe(1);
    await again.signal('SIGTERM');
  });

  it('restores a backup, and devices send the changes that it lacks', async () => {
    const server = await ServerProcess.start(folder);
    const site = new TestSite();
    const connection = await connected(server, site);
    await connection.commit([insert('accounts', 'a', { name: 'a' })]);
    expect(await runCommand(['backup', at('backup'), '--data', data])).toMatchObject({ code: 0 });
    await connection.commit([insert('accounts', 'b', { name: 'b' })]);
    await server.signal('SIGTERM');
    const restored = at('restored');
    mkdirSync(restored);
    expect(await runCommand(['restore', at('backup'), '--data', restored])).toMatchObject({ code: 0 });
    expect((await runCommand(['restore', at('backup'), '--data', restored])).stderr).toContain('already has databases');
    const [, , ...flags] = serverFlags(folder);
    const again = await ServerProcess.start(folder, ['--data', restored, ...flags]);
    const back = await TestConnection.connect(again.url, site);
    back.hello(await again.token(), DATABASE);
    expect(await back.next('welcome')).toMatchObject({ fullResync: true, lastAckedSequence: 1, watermark: 1 });
    expect(await back.next('delivery')).toMatchObject({ whole: true, to: 1 });
    site.lastAckedSequence = 1;
    site.cursor = 1;
    back.push(2, 2, 2);
    await back.decided(2);
    await again.signal('SIGTERM');
    const file = new DatabaseSync(databasePath(restored, DATABASE), { readOnly: true });
    expect(file.prepare('SELECT id FROM accounts ORDER BY id').all()).toEqual([{ id: 'a' }, { id: 'b' }]);
    file.close();
  });

  it('repairs the members of a database while the server runs', async () => {
    const server = await ServerProcess.start(folder);
    const connection = await connected(server);
    const members = (...args: string[]): ReturnType<typeof runCommand> =>
      runCommand(['members', ...args, '--data', data]);
    expect(await members('set', DATABASE, 'ann', 'king')).toMatchObject({ code: 1 });
    expect(await members('revoke', DATABASE, 'ann', 'extra')).toMatchObject({ code: 1 });
    expect(await members('set', DATABASE, 'zoe', 'owner')).toMatchObject({ code: 0 });
    expect(await members('revoke', DATABASE, 'ann')).toMatchObject({ code: 0 });
    expect((await members('list', DATABASE)).stdout).toBe('ann\trevoked\nzoe\towner\n');
    expect(await connection.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    await server.signal('SIGTERM');
  });

  it('locks a principal out of every database while the server runs, and readmits them', async () => {
    const server = await ServerProcess.start(folder);
    const connection = await connected(server);
    const members = (...args: string[]): ReturnType<typeof runCommand> =>
      runCommand(['members', ...args, '--data', data]);
    expect(await members('revoke-everywhere')).toMatchObject({ code: 1 });
    expect(await members('revoke-everywhere', 'ann')).toMatchObject({ code: 0 });
    expect(await connection.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    expect((await members('revoked')).stdout).toBe('ann\n');
    expect(await members('readmit', 'ann')).toMatchObject({ code: 0 });
    expect((await members('revoked')).stdout).toBe('');
    await server.signal('SIGTERM');
  });

  it('lists and withdraws invitations', async () => {
    mkdirSync(data);
    const store = new SqliteMembers(join(data, 'members.sqlite'));
    for (const [code, role] of [
      [1, 'owner'],
      [2, 'viewer'],
    ] as const)
      store.addInvitation(
        {
          codeHash: new Uint8Array(32).fill(code),
          databaseId: DATABASE,
          role,
          expiresMs: Date.now() + 60_000 * code,
          invitedBy: 'ann',
        },
        10,
        Date.now(),
      );
    store.close();
    const members = (...args: string[]): ReturnType<typeof runCommand> =>
      runCommand(['members', ...args, '--data', data]);
    expect(lines((await members('invitations', DATABASE)).stdout)).toEqual([
      expect.stringMatching(/^0101010101010101\towner\tann\texpires /) as string,
      expect.stringMatching(/^0202020202020202\tviewer\tann\texpires /) as string,
    ]);
    expect(await members('withdraw', DATABASE, '0101010101010101')).toMatchObject({ code: 0 });
    expect(await members('withdraw', DATABASE, '0101010101010101')).toMatchObject({ code: 1 });
    expect(lines((await members('invitations', DATABASE)).stdout)).toHaveLength(1);
  });

  it('moves members, revocations and invitations to another server, where stored roles stay', async () => {
    mkdirSync(data);
    const [from, to] = [at('from.sqlite'), new SqliteMembers(join(data, 'members.sqlite'))];
    const source = new SqliteMembers(from);
    const invitation = { role: 'viewer', expiresMs: Date.now() + 60_000, invitedBy: 'ann' } as const;
    for (const [databaseId, code] of [
      [DATABASE, 1],
      ['other', 2],
    ] as const) {
      source.write({ databaseId, principal: 'ann', role: 'owner' });
      source.write({ databaseId, principal: 'bob', role: null });
      source.addInvitation({ ...invitation, databaseId, codeHash: new Uint8Array(32).fill(code) }, 10, Date.now());
    }
    const expired = { ...invitation, databaseId: DATABASE, codeHash: new Uint8Array(32).fill(3), expiresMs: 2 };
    source.addInvitation(expired, 10, 1);
    source.write({ databaseId: DATABASE, principal: 'zoe', role: 'editor' });
    for (const principal of ['yan', 'zoe']) source.write(revokedEverywhere(principal));
    source.close();
    to.write({ databaseId: 'other', principal: 'ann', role: null });
    const run = (...args: string[]): ReturnType<typeof runCommand> =>
      runCommand(['members', 'import', ...args, '--data', data]);
    expect(lines((await run(from, DATABASE)).stdout)).toEqual([
      `imported 3 roles and 1 invitations from ${from}`,
      `not imported: 1 revocations in every database, of principals without a role in ${DATABASE}; to import all roles: members import ${from}`,
    ]);
    expect(to.readDatabase(DATABASE).map(({ principal }) => principal)).toEqual(['ann', 'bob', 'zoe']);
    expect(to.readDatabase('other')).toHaveLength(1);
    expect(lines((await run(from)).stdout)).toEqual([
      `not imported: zoe as editor in ${DATABASE}, where another role is stored`,
      'not imported: ann as owner in other, where another role is stored',
      `imported 3 roles and 1 invitations from ${from}`,
    ]);
    expect(to.readAll()).toEqual([
      revokedEverywhere('yan'),
      revokedEverywhere('zoe'),
      { databaseId: DATABASE, principal: 'ann', role: 'owner' },
      { databaseId: DATABASE, principal: 'bob', role: null },
      { databaseId: DATABASE, principal: 'zoe', role: null },
      { databaseId: 'other', principal: 'ann', role: null },
      { databaseId: 'other', principal: 'bob', role: null },
    ]);
    const judge = (_: string, __: unknown, offered: 'owner' | 'editor' | 'viewer'): typeof offered => offered;
    expect(to.acceptInvitation(new Uint8Array(32).fill(1), 'eve', Date.now(), judge)).toMatchObject({ role: 'viewer' });
    to.close();
    writeFileSync(at('none.sqlite'), 'text');
    for (const file of [at('none.sqlite'), at('missing.sqlite')]) {
      const { code, stderr } = await run(file);
      expect([code, stderr]).toEqual([1, expect.stringContaining(file) as string]);
    }
  });

  it('keeps the identity of a restored database, and gives a copy under a different id a new identity', async () => {
    const server = await ServerProcess.start(folder);
    const { site } = await connected(server);
    expect(await runCommand(['databases', 'export', DATABASE, at('copy.sqlite'), '--data', data])).toMatchObject({
      code: 0,
    });
    await server.signal('SIGTERM');
    const identityOf = async (databaseId: string): Promise<unknown> =>
      (
        JSON.parse((await runCommand(['databases', 'inspect', databaseId, '--data', data])).stdout) as {
          identity: unknown;
        }
      ).identity;
    const original = Buffer.from(site.databaseIdentity as Uint8Array).toString('hex');
    expect(await identityOf(DATABASE)).toBe(original);
    // A copy under a different id is a separate database. Devices without a database identity that were synced with the
    // original do not mistake it for theirs.
    expect(await runCommand(['databases', 'import', 'Copy', at('copy.sqlite'), '--data', data])).toMatchObject({
      code: 0,
    });
    const copied = await identityOf('Copy');
    expect([copied, copied === original]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), false]);
    // After a delete, an import restores the same identity, and a database that a client creates gets a new one.
    await runCommand(['databases', 'delete', DATABASE, '--data', data]);
    await runCommand(['databases', 'import', DATABASE, at('copy.sqlite'), '--data', data]);
    expect(await identityOf(DATABASE)).toBe(original);
    const again = await ServerProcess.start(folder);
    for (const [databaseId, how] of [
      [DATABASE, 'welcome'],
      ['Copy', 'failure'],
    ] as const) {
      const old = await TestConnection.connect(again.url, site);
      old.hello(await again.token('editor', 'ann', databaseId), databaseId, { databaseIdentity: null });
      expect(await old.next(how)).toMatchObject(
        how === 'welcome' ? { databaseIdentity: site.databaseIdentity } : { code: 'database-mismatch' },
      );
    }
    await again.signal('SIGTERM');
    await runCommand(['databases', 'delete', DATABASE, '--data', data]);
    const restarted = await ServerProcess.start(folder);
    const bound = await TestConnection.connect(restarted.url, site);
    bound.hello(await restarted.token(), DATABASE);
    expect(await bound.failure()).toMatchObject({ code: 'database-mismatch' });
    expect((await connected(restarted)).site.databaseIdentity).not.toEqual(site.databaseIdentity);
    await restarted.signal('SIGTERM');
  });

  it('learns from the doctor that a file was copied by hand, and no server opens it', async () => {
    const server = await ServerProcess.start(folder);
    await connected(server);
    await server.signal('SIGTERM');
    copyFileSync(databasePath(data, DATABASE), databasePath(data, 'by-hand'));
    expect(await runCommand(['doctor', '--data', data])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        `problem  database by-hand: the file was copied or renamed by hand from the database ${DATABASE}`,
      ) as string,
    });
    const again = await ServerProcess.start(folder);
    const connection = await TestConnection.connect(again.url, new TestSite());
    connection.hello(await again.token('editor', 'ann', 'by-hand'), 'by-hand');
    expect(await connection.failure()).toMatchObject({ code: 'database-unavailable' });
    await connected(again);
    await again.signal('SIGTERM');
  });

  it('continues an interrupted backup, and verifies a complete one', async () => {
    for (const id of ['a', 'b', 'c'])
      openDatabaseFile(databasePath(data, id), TEST_SCHEMA, { databaseId: id }).sql.close();
    expect(await runCommand(['backup', at('backup'), '--data', data])).toMatchObject({ code: 0 });
    const manifest = join(at('backup'), 'manifest.json');
    const complete = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, string>;
    expect(await runCommand(['backup', at('backup'), '--data', data])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty') as string,
    });
    // Leaves the files as a kill during the copy of the second file would. A power loss has damaged the third one.
    rmSync(manifest);
    const { 'db-a.sqlite': first, 'db-c.sqlite': third } = complete;
    writeFileSync(
      join(at('backup'), 'manifest.unfinished.json'),
      JSON.stringify({ 'db-a.sqlite': first, 'db-c.sqlite': third }),
    );
    writeFileSync(join(at('backup'), 'db-b.sqlite.copying'), 'half');
    writeFileSync(join(at('backup'), 'db-c.sqlite'), 'half');
    const kept = statSync(join(at('backup'), 'db-a.sqlite')).mtimeMs;
    const { code, stdout } = await runCommand(['backup', at('backup'), '--data', data]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('continuing a backup; files that are already complete: 1'),
    ]);
    expect(statSync(join(at('backup'), 'db-a.sqlite')).mtimeMs).toBe(kept);
    expect(readdirSync(at('backup')).sort()).toEqual(['db-a.sqlite', 'db-b.sqlite', 'db-c.sqlite', 'manifest.json']);
    expect(await runCommand(['verify', at('backup')])).toMatchObject({ code: 0 });
    writeFileSync(join(at('backup'), 'db-c.sqlite'), 'another');
    expect(await runCommand(['verify', at('backup')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('db-c.sqlite is missing or differs') as string,
    });
    // The file is what the backup copied, but SQLite cannot read it.
    const hash = createHash('sha256').update('another').digest('hex');
    const copied = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, string>;
    writeFileSync(manifest, JSON.stringify({ ...copied, 'db-c.sqlite': hash }));
    expect(await runCommand(['verify', at('backup')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('db-c.sqlite is damaged') as string,
    });
  });

  it('continues a backup that failed before its first file, or whose list of files was lost', async () => {
    openDatabaseFile(databasePath(data, 'a'), TEST_SCHEMA, { databaseId: 'a' }).sql.close();
    // Cannot be copied, as on a full disk.
    mkdirSync(join(data, 'schemas', 'x.json'), { recursive: true });
    expect(await runCommand(['backup', at('backup'), '--data', data])).toMatchObject({ code: 1 });
    rmSync(join(data, 'schemas'), { recursive: true });
    writeFileSync(join(at('backup'), 'db-a.sqlite.copying'), 'half');
    for (const list of ['manifest.unfinished.json', 'manifest.unfinished.json.new']) {
      writeFileSync(join(at('backup'), list), '');
      expect(await runCommand(['backup', at('backup'), '--data', data])).toMatchObject({ code: 0 });
      expect(readdirSync(at('backup')).sort()).toEqual(['db-a.sqlite', 'manifest.json', 'schemas']);
      rmSync(join(at('backup'), 'manifest.json'));
    }
  });

  it('cannot back up to a directory to which another command backs up', async () => {
    openDatabaseFile(databasePath(data, 'a'), TEST_SCHEMA, { databaseId: 'a' }).sql.close();
    mkdirSync(at('backup'));
    const other = lockFile(join(at('backup'), LOCK), '');
    const { code, stderr } = await runProcess(['backup', at('backup'), '--data', data]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`another command backs up to ${at('backup')}`)]);
    other.release();
    const codes = await Promise.all(
      [1, 2, 3].map(async () => (await runProcess(['backup', at('backup'), '--data', data])).code),
    );
    expect(codes.filter((code) => code === 0)).toHaveLength(1);
    expect(readdirSync(at('backup')).sort()).toEqual(['db-a.sqlite', 'manifest.json']);
    expect(await runCommand(['verify', at('backup')])).toMatchObject({ code: 0 });
  });

  it('finds no file with the name of an export that was killed', async () => {
    openDatabaseFile(databasePath(data, 'a'), TEST_SCHEMA, { databaseId: 'a' }).sql.close();
    const sql = new DatabaseSync(databasePath(data, 'a'));
    sql.exec(`CREATE TABLE much (x); CREATE INDEX of_much ON much (x);
      WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO much SELECT hex(randomblob(80)) FROM n`);
    sql.close();
    mkdirSync(at('exports'));
    const file = join(at('exports'), 'a.sqlite');
    const begun = async (): Promise<void> => {
      await expect.poll(() => readdirSync(at('exports')), { interval: 1 }).toHaveLength(1);
    };
    await runProcess(['databases', 'export', 'a', file, '--data', data], {}, begun());
    // It may have been complete before the signal arrived.
    if (existsSync(file)) expect((await runCommand(['databases', 'import', 'b', file, '--data', data])).code).toBe(0);
    rmSync(file, { force: true });
    expect(await runCommand(['databases', 'export', 'a', file, '--data', data])).toMatchObject({ code: 0 });
  });

  it('is warned of a damaged backup before anything is restored', async () => {
    const server = await ServerProcess.start(folder);
    await (await connected(server)).commit([insert('accounts', 'a', { name: 'a' })]);
    await server.signal('SIGTERM');
    await runCommand(['backup', at('backup'), '--data', data]);
    const file = join(at('backup'), `db-${DATABASE}.sqlite`);
    const bytes = readFileSync(file);
    bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const { code, stderr } = await runCommand(['restore', at('backup'), '--data', at('restored')]);
    expect(code).toBe(1);
    expect(stderr).toContain(`db-${DATABASE}.sqlite is missing or differs from the backup`);
    expect(existsSync(at('restored'))).toBe(false);
  });

  it.skipIf(process.getuid?.() !== 0)('leaves files that the user of the server can write, as root', async () => {
    const server = await ServerProcess.start(folder);
    await connected(server);
    await runCommand(['databases', 'export', DATABASE, at('copy.sqlite'), '--data', data]);
    await runCommand(['backup', at('backup'), '--data', data]);
    await server.signal('SIGTERM');
    const user = 65_534;
    const owners = (directory: string): unknown[] => {
      const names = ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })];
      return [...new Set(names.map((name) => statSync(join(directory, name)).uid))];
    };
    const belongsToUser = (name: string): string => {
      mkdirSync(at(name));
      chownSync(at(name), user, user);
      return at(name);
    };
    for (const [name, ...args] of [
      ['imported', 'databases', 'import', 'new', at('copy.sqlite')],
      ['restored', 'restore', at('backup')],
    ] as const) {
      expect(await runCommand([...args, '--data', belongsToUser(name)])).toMatchObject({ code: 0, stderr: '' });
      expect(owners(at(name))).toEqual([user]);
    }
    rmSync(join(at('restored'), 'members.sqlite'));
    await runCommand(['members', 'set', DATABASE, 'zoe', 'owner', '--data', at('restored')]);
    expect(owners(at('restored'))).toEqual([user]);
    // While a server runs, a command changes no file that it has not created itself.
    chownSync(join(at('restored'), 'members.sqlite'), 0, 0);
    await runCommand(['members', 'list', DATABASE, '--data', at('restored')]);
    expect(owners(at('restored'))).toEqual([user, 0]);
  });

  it('learns from the doctor of a missing file, and can delete its database', async () => {
    for (const id of ['a', 'b']) openDatabaseFile(databasePath(data, id), TEST_SCHEMA, { databaseId: id }).sql.close();
    rmSync(databasePath(data, 'a'));
    const missing = 'the file is missing; restore it from a backup, or delete the database';
    expect(lines((await runCommand(['doctor', '--data', data])).stdout)).toEqual([
      'ok       data directory',
      'note     no server runs here',
      'note     no continuous backup has copied this directory yet (--backup-to)',
      `note     ${join(data, 'members.sqlite')} does not exist: nobody has a stored role, and nobody is revoked`,
      'ok       members and schemas',
      `problem  database a: ${missing}`,
      'ok       database b',
    ]);
    expect((await runCommand(['databases', 'list', '--data', data])).stdout).toMatch(
      /^a\tthe file is missing\nb\t\d+ bytes\n$/,
    );
    expect(await runCommand(['databases', 'delete', 'a', '--data', data])).toMatchObject({ code: 0 });
    expect(await runCommand(['databases', 'delete', 'a', '--data', data])).toMatchObject({ code: 1 });
    expect(await runCommand(['doctor', '--data', data])).toMatchObject({ code: 0 });
  });

  it('learns which old files stay when a database is deleted', async () => {
    openDatabaseFile(databasePath(data, 'a'), TEST_SCHEMA, { databaseId: 'a' }).sql.close();
    await runCommand(['databases', 'export', 'a', at('copy.sqlite'), '--data', data]);
    await runCommand(['databases', 'replace', 'a', at('copy.sqlite'), '--data', data]);
    const { stdout } = await runCommand(['databases', 'delete', 'a', '--data', data]);
    const kept = `${databasePath(data, 'a')}.replaced-1`;
    expect(lines(stdout)).toEqual([
      'deleted a',
      ...[kept, `${kept}-wal`].map((path) => `${path} still has its rows from before a replacement`),
    ]);
  });

  it('learns from the doctor of damaged members and schemas, and of a restore that did not finish', async () => {
    openDatabaseFile(databasePath(data, 'a'), TEST_SCHEMA, { databaseId: 'a' }).sql.close();
    mkdirSync(join(data, 'schemas'));
    mkdirSync(join(data, 'restoring'));
    writeFileSync(join(data, 'schemas', 'abc.json'), '{');
    writeFileSync(join(data, 'members.sqlite'), 'not a database at all, but long enough to be looked at');
    const { code, stdout } = await runCommand(['doctor', '--data', data]);
    rmSync(join(data, 'members.sqlite'));
    mkdirSync(join(data, 'members.sqlite'));
    expect((await runCommand(['doctor', '--data', data])).stdout).toMatch(
      /^problem {2}members and schemas: .*members\.sqlite cannot be read: disk I\/O error/m,
    );
    expect(code).toBe(1);
    for (const problem of [
      /^problem {2}data directory: a restore did not finish, and no server starts/m,
      /^problem {2}members and schemas: .*members\.sqlite is damaged: stop the server, put a copy from a backup in its place/m,
      /^problem {2}members and schemas: schemas\/abc\.json cannot be read/m,
    ])
      expect(stdout).toMatch(problem);
  });

  it('learns from the doctor of files that cannot be read, and of the other databases and missing members', async () => {
    openDatabaseFile(databasePath(data, 'b'), TEST_SCHEMA, { databaseId: 'b' }).sql.close();
    writeFileSync(`${databasePath(data, 'a')}-unloaded`, 'not a mark');
    const { code, stdout } = await runCommand(['doctor', '--data', data]);
    expect(code).toBe(1);
    expect(stdout).toContain('problem  database a: its files cannot be read: ');
    expect(stdout).toContain('ok       database b');
    expect(stdout).toContain(`note     ${join(data, 'members.sqlite')} does not exist: nobody has a stored role`);
  });

  it('learns from the doctor of a row that another program wrote, and of a damaged file', async () => {
    const server = await ServerProcess.start(folder);
    await (await connected(server)).commit([insert('accounts', 'a', { name: 'a private name' })]);
    const well = await runCommand(['doctor', '--data', data, '--schema', at('schema.json')]);
    expect(lines(well.stdout)).toEqual([
      'ok       data directory',
      'note     a server runs here',
      'note     no continuous backup has copied this directory yet (--backup-to)',
      'ok       members and schemas',
      `ok       database ${DATABASE}`,
    ]);
    expect(well.code).toBe(0);
    await server.signal('SIGTERM');
    const file = new DatabaseSync(databasePath(data, DATABASE));
    file.exec(`INSERT INTO accounts (id, name) VALUES ('past', 'past')`);
    file.close();
    const ill = await runCommand(['doctor', '--data', data]);
    expect(ill).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('accounts: sync knows 1 of 2 rows') as string,
    });
    writeFileSync(databasePath(data, DATABASE), 'not a database at all, but long enough to be looked at');
    const damaged = await runCommand(['doctor', '--data', data]);
    expect(damaged).toMatchObject({ code: 1, stdout: expect.stringContaining('the file cannot be read') as string });
    expect(ill.stdout + damaged.stdout).not.toContain('private');
  });

  it.each([
    ['backup', ['backup', 'copy']],
    ['list', ['databases', 'list']],
    ['inspect', ['databases', 'inspect', 'a']],
    ['export', ['databases', 'export', 'a', 'copy']],
    ['import', ['databases', 'import', 'a', 'copy']],
    ['delete', ['databases', 'delete', 'a']],
    ['replace', ['databases', 'replace', 'a', 'copy']],
    ['accept', ['databases', 'accept', 'a']],
    ['members list', ['members', 'list', 'a']],
    ['members set', ['members', 'set', 'a', 'ann', 'owner']],
    ['members revoked', ['members', 'revoked']],
    ['doctor', ['doctor']],
  ])('receives an error if the data directory of %s does not exist, and none is created', async (_, args) => {
    const { code, stdout, stderr } = await runCommand([
      ...args.map((arg) => (arg === 'copy' ? at('copy') : arg)),
      ...['--data', at('wrong')],
    ]);
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(at('wrong')) as string]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('receives an error if a backup is empty or a folder contains none', async () => {
    mkdirSync(at('empty'));
    expect((await runCommand(['verify', at('empty')])).stderr).toContain('does not hold a complete backup');
    writeFileSync(join(at('empty'), 'manifest.json'), '{}');
    for (const args of [
      ['verify', at('empty')],
      ['restore', at('empty'), '--data', data],
    ])
      expect(await runCommand(args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the backup in') as string,
      });
  });

  it('receives an error if a directory has nothing to check or to back up', async () => {
    mkdirSync(data);
    const doctor = await runCommand(['doctor', '--data', data]);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringContaining(`problem  data directory: no server has used ${data}`),
    ]);
    mkdirSync(join(data, 'databases'));
    expect(await runCommand(['backup', at('backup'), '--data', data])).toMatchObject({
      code: 1,
      stderr: `config-invalid:\n${data} contains nothing to back up\n`,
    });
    expect(readdirSync(at('backup'))).toEqual([]);
  });

  it('uses the data directory of a flag, although the environment names another place', async () => {
    openDatabaseFile(databasePath(data, 'a'), TEST_SCHEMA, { databaseId: 'a' }).sql.close();
    const stubs = {
      ROCKPOOL_POSTGRES: 'postgresql://127.0.0.1:1/none',
      ROCKPOOL_SHARDS: at('none'),
      ROCKPOOL_SERVER: 'http://127.0.0.1:1',
    };
    for (const [name, value] of Object.entries(stubs)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await runCommand(['databases', 'list', '--data', data])).stdout).toMatch(/^a\t/);
    expect((await runCommand(['members', 'set', 'a', 'bob', 'editor', '--data', data])).code).toBe(0);
    expect((await runCommand(['doctor', '--data', data])).stdout).toContain('database a');
    expect(await runCommand(['backup', at('backup'), '--data', data])).toMatchObject({ code: 0 });
    expect(await runCommand(['restore', at('backup'), '--data', at('restored')])).toMatchObject({ code: 0 });
    expect((await runCommand(['restore', '--from', at('none'), '--data', at('other')])).stderr).toContain(
      `there is no backup in ${at('none')}`,
    );
    vi.unstubAllEnvs();
    for (const [flag, value] of [
      ['--postgres', 'postgresql://ann@127.0.0.1:1/none'],
      ['--server', 'http://127.0.0.1:1'],
    ] as const)
      expect((await runCommand(['databases', 'list', '--data', data, flag, value])).stderr).toMatch(
        /use --\w+ or --\w+, not both/,
      );
  });

  it('receives a note if a role is set in a database that does not exist, such as one with a mistyped id', async () => {
    mkdirSync(data);
    const store = new SqliteMembers(join(data, 'members.sqlite'));
    store.close();
    openDatabaseFile(databasePath(data, 'list'), TEST_SCHEMA, { databaseId: 'list' }).sql.close();
    const members = async (...args: string[]): Promise<[number, string]> => {
      const { code, stdout, stderr } = await runCommand(['members', ...args, '--data', data]);
      return [code, stdout + stderr];
    };
    const waits = ', which does not exist: the role applies once a client creates it\n';
    expect(await members('set', 'list', 'bob', 'editor')).toEqual([0, 'bob is editor of list\n']);
    expect(await members('set', 'lisst', 'bob', 'editor')).toEqual([0, `bob is editor of lisst${waits}`]);
    expect(await members('revoke', 'lisst', 'bob')).toEqual([0, `bob is revoked in lisst${waits}`]);
    expect(await members('list', 'lisst')).toEqual([0, 'bob\trevoked\n']);
    for (const action of ['list', 'invitations'])
      expect(await members(action, 'other')).toEqual([1, expect.stringContaining('database=other') as string]);
  });

  it('receives an error that names the file or directory that cannot be used', async () => {
    mkdirSync(data);
    openDatabaseFile(databasePath(data, 'a'), TEST_SCHEMA, { databaseId: 'a' }).sql.close();
    writeFileSync(at('text'), 'not a database');
    for (const [args, problem] of [
      [['databases', 'import', 'b', at('none')], `${at('none')} cannot be read`],
      [['databases', 'import', 'b', folder], `${folder} cannot be read`],
      [
        ['databases', 'replace', 'a', at('text')],
        `${at('text')} is not a Rockpool database that this version can read: database-damaged`,
      ],
      [['databases', 'export', 'a', at('none/copy')], `${at('none')} does not exist`],
      [['backup', at('text')], at('text')],
      [['restore', '--from', ''], '--from needs a value'],
    ] as const)
      expect(await runCommand([...args, '--data', data])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(problem) as string,
      });
    writeFileSync(databasePath(data, 'damaged'), 'not a database, although it is one by its name');
    expect((await runCommand(['databases', 'inspect', 'damaged', '--data', data])).stderr).toContain('not-sqlite');
    const { code, stderr } = await runCommand(['--data', at('text/data'), ...serverFlags(folder).slice(2)]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(at('text/data')) as string]);
  });

  it('can print the version', async () => {
    expect(await runCommand(['--version'])).toEqual({ code: 0, stdout: `${SERVER_VERSION}\n`, stderr: '' });
  });

  it('receives all problems of a command at once', async () => {
    const { code, stderr } = await runCommand(['databases', 'export', '../etc', '--what']);
    expect(code).toBe(1);
    expect(lines(stderr)).toEqual([
      'config-invalid:',
      'unknown setting --what',
      '--data is missing',
      'databases export: FILE is missing',
      'a database id must consist of 1 to 64 letters, digits, _ or -',
    ]);
    expect((await runCommand(['doctor', '--data', at('none')])).stdout).toContain('does not exist');
    expect((await runCommand(['backup', '--data', data])).stderr).toContain('backup needs a directory');
  });
});
