import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RockpoolError } from '@rockpool/shared';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { until } from '../../../../tests/kit/until.ts';
import { copied } from '../../testing/backup-state.ts';
import { insert, update } from '../../testing/changeset.ts';
import { databaseRows } from '../../testing/database-rows.ts';
import { MemoryDestination } from '../../testing/memory-destination.ts';
import { TestSite } from '../../testing/test-client.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { runDatabases } from '../cli/databases.ts';
import { runRestoreCommand } from '../cli/restore.ts';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { databasePath, forgetCopies, membersPath } from '../store/data-directory.ts';
import { beginFileChange, finishFileChange } from '../store/file-change.ts';
import { markDamaged } from '../store/file-damage.ts';
import type { SyncServerOptions } from '../sync-server.ts';
import { ContinuousBackup, isCopied } from './continuous-backup.ts';
import { CopyRecord, deletionMs, readCopyFacts, recordPath, type CopyFacts } from './copy-record.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const pathIn = (data: string, databaseId: string = DATABASE): string => databasePath(at(data), databaseId);

beforeEach(() => {
  folder = temporaryFolder();
});

async function start(data = 'data', options: Partial<SyncServerOptions> = {}): Promise<TestServer> {
  mkdirSync(at(data), { recursive: true });
  const server = await TestServer.start(at(data), { backup: { to: at('copies'), intervalMs: 5 }, ...options });
  onTestFinished(() => server.stop());
  await server.sync.ready();
  return server;
}

async function restore(data: string, ...flags: string[]): Promise<string[]> {
  const lines: string[] = [];
  await runRestoreCommand(
    { flags: ['--from', at('copies'), '--data', at(data), ...flags], environment: {} },
    (line) => void lines.push(line),
  );
  return lines;
}

const stored = (under = ''): string[] =>
  readdirSync(join(at('copies'), under), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const nextMs = async (): Promise<number> => {
  const nowMs = Date.now();
  await until(() => Date.now() > nowMs);
  return nowMs;
};

const iso = (timeMs: number): string => new Date(timeMs).toISOString();

describe('a continuous backup', () => {
  it('contains each database as of any moment, byte for byte', async () => {
    const server = await start();
    const connection = await server.open();
    const states: { readonly atMs: number; readonly rows: object }[] = [];
    for (let i = 0; i < 4; i++) {
      await connection.commit([insert('accounts', `a${i}`, { name: `name ${i}` })]);
      if (i > 0) await connection.commit([update('accounts', 'a0', { name: `name ${i}` })]);
      await copied(server);
      states.push({ atMs: await nextMs(), rows: databaseRows(pathIn('data')) });
    }
    await server.stop();
    for (const [i, { atMs, rows }] of states.entries()) {
      await restore(`restored-${i}`, '--at', iso(atMs));
      expect(databaseRows(pathIn(`restored-${i}`))).toEqual(rows);
    }
    expect(await restore('newest')).toContain(
      `restored 1 databases to ${at('newest')}; devices send later changes again`,
    );
    expect(databaseRows(pathIn('newest'))).toEqual(databaseRows(pathIn('data')));
  });

  it('continues after a restart without a new base, including changes that were written before a kill', async () => {
    const server = await start();
    const connection = await server.open();
    await connection.commit([insert('accounts', 'a', { name: 'a' })]);
    await server.stop();
    const before = readCopyFacts(pathIn('data'));
    expect(before).toMatchObject({ isComplete: true, watermark: 1 });
    // This server runs without the backup, so the copy becomes outdated.
    const without = await start('data', { backup: undefined as never });
    const site = new TestSite();
    await (await without.open(site)).commit([insert('accounts', 'b', { name: 'b' })]);
    await without.stop();
    const again = await start();
    const other = await again.open(site, { databaseId: 'other' }).catch(() => null);
    expect(other).toBeNull();
    await (await again.open()).commit([insert('accounts', 'c', { name: 'c' })]);
    await copied(again);
    expect(readCopyFacts(pathIn('data'))).toMatchObject({ generation: before?.generation, watermark: 3 });
    await again.stop();
    await restore('restored');
    expect(databaseRows(pathIn('restored'))).toEqual(databaseRows(pathIn('data')));
  });

  it('copies what a server without a backup wrote, even if the database is not opened again', async () => {
    const server = await start();
    await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
    await server.stop();
    const without = await start('data', { backup: undefined as never });
    await (await without.open()).commit([insert('accounts', 'b', { name: 'b' })]);
    await without.stop();
    expect(isCopied(pathIn('data'), readCopyFacts(pathIn('data'))?.destination ?? '')).toBe(false);
    const again = await start();
    await copied(again);
    await again.stop();
    expect(isCopied(pathIn('data'), readCopyFacts(pathIn('data'))?.destination ?? '')).toBe(true);
    await restore('restored');
    expect(databaseRows(pathIn('restored'))).toEqual(databaseRows(pathIn('data')));
  });

  it('takes at most 20 KB for an empty database', async () => {
    const server = await start();
    await server.open();
    await copied(server);
    const sizeBytes = stored('databases/db-household').reduce((sum, path) => sum + statSync(path).size, 0);
    expect(sizeBytes).toBeGreaterThan(500);
    expect(sizeBytes).toBeLessThanOrEqual(20_000);
  });

  it('reports a failing destination by name, with the next attempt, while writes continue', async () => {
    writeFileSync(at('copies'), 'a file where the folder should be');
    const server = await start();
    const connection = await server.open();
    await connection.commit([insert('accounts', 'a', { name: 'a' })]);
    await server.logged('backup-failed');
    const { fields } = server.events.find(({ event }) => event === 'backup-failed') ?? {};
    expect(fields).toMatchObject({ destination: at('copies'), code: 'backup-unavailable' });
    expect(fields).toHaveProperty('retryInMs', expect.any(Number));
    await connection.commit([insert('accounts', 'b', { name: 'b' })]);
    const ready = await server.ask('GET', '/ready');
    expect([ready.status, await ready.json()]).toEqual([
      200,
      {
        status: 'ready',
        damagedDatabases: 0,
        unservableDatabases: 0,
        backup: {
          pending: expect.any(Number) as number,
          lagMs: expect.any(Number) as number,
          failing: {
            code: 'backup-unavailable',
            cause: expect.stringMatching(/^E[A-Z]+$/) as string,
            since: expect.any(String) as string,
            nextAttempt: expect.any(String) as string,
          },
        },
      },
    ]);
    expect(await (await server.ask('GET', '/metrics')).text()).toMatch(
      /^rockpool_backup_enabled 1$[^]*^rockpool_backup_failing 1$/m,
    );
    rmSync(at('copies'));
    await server.logged('backup-recovered');
    await copied(server);
    expect(await (await server.ask('GET', '/metrics')).text()).toMatch(/^rockpool_backup_lag_seconds 0$/m);
    await restore('restored');
    expect(databaseRows(pathIn('restored'))).toEqual(databaseRows(pathIn('data')));
  });

  it('begins a new generation, and reports it, if it cannot determine what was copied', async () => {
    const server = await start();
    await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
    await server.stop();
    const record = readFileSync(recordPath(pathIn('data')));
    record.writeUInt32LE(0x0bad_5eed, 516);
    writeFileSync(recordPath(pathIn('data')), record);
    // Marks the log as in use, as after a kill while the record was being written.
    const sums = readFileSync(`${pathIn('data')}-sums`);
    sums.writeUInt32LE(1, 12);
    writeFileSync(`${pathIn('data')}-sums`, sums);
    const again = await start();
    await again.logged('backup-generation');
    expect(again.events.filter(({ event }) => event === 'backup-generation')).toMatchObject([
      { fields: { database: DATABASE, reason: 'record-damaged' } },
    ]);
    await copied(again);
    expect(await (await again.ask('GET', '/metrics')).text()).toMatch(/^rockpool_backup_restarts_total 1$/m);
    await restore('restored');
    expect(databaseRows(pathIn('restored'))).toEqual(databaseRows(pathIn('data')));
  });

  it('copies nothing while the disk of its folder is not mounted, and continues when it is', async () => {
    const server = await start();
    await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
    await copied(server);
    await server.stop();
    renameSync(at('copies'), at('unmounted'));
    const again = await start();
    await (await again.open()).commit([insert('accounts', 'b', { name: 'b' })]);
    await again.logged('backup-failed');
    expect(again.events.find(({ event }) => event === 'backup-failed')?.fields).toMatchObject({
      problem: expect.stringContaining('server.json is missing') as string,
    });
    expect(existsSync(at('copies'))).toBe(false);
    renameSync(at('unmounted'), at('copies'));
    await again.logged('backup-recovered');
    await copied(again);
    await again.stop();
    await restore('restored');
    expect(databaseRows(pathIn('restored'))).toEqual(databaseRows(pathIn('data')));
  });

  it('copies nothing below the mount point of a disk that is unmounted while the server runs', async () => {
    const server = await start();
    const connection = await server.open();
    await connection.commit([insert('accounts', 'a', { name: 'a' })]);
    await copied(server);
    await until(() => existsSync(join(at('copies'), 'schemas')) && stored('schemas').length > 0);
    renameSync(at('copies'), at('unmounted'));
    mkdirSync(at('copies'));
    await connection.commit([insert('accounts', 'b', { name: 'b' })]);
    const isOver = (): boolean => server.events.some(({ event }) => event === 'backup-recovered');
    const isRefused = (): boolean =>
      server.events.some(
        ({ event, fields }) => event === 'backup-failed' && JSON.stringify(fields).includes('server.json is missing'),
      );
    await until(() => isRefused() || isOver());
    expect([isOver(), readdirSync(at('copies'))]).toEqual([false, []]);
    rmdirSync(at('copies'));
    renameSync(at('unmounted'), at('copies'));
    await server.logged('backup-recovered');
    await copied(server);
    await server.stop();
    await restore('restored');
    expect(databaseRows(pathIn('restored'))).toEqual(databaseRows(pathIn('data')));
  });

  it('takes over the destination of an earlier server', async () => {
    const server = await start();
    await server.open();
    await copied(server);
    const owner = JSON.parse(readFileSync(join(at('copies'), 'server.json'), 'utf8')) as { readonly run: string };
    await server.stop();
    const next = await start('other');
    await next.open();
    await copied(next);
    const taken = JSON.parse(readFileSync(join(at('copies'), 'server.json'), 'utf8')) as { readonly run: string };
    expect(taken.run).not.toBe(owner.run);
  });

  it('is refused with PostgreSQL, which has its own backups', async () => {
    await expect(start('data', { postgres: 'postgresql://nobody@127.0.0.1/none' })).rejects.toMatchObject({
      code: 'config-invalid',
      fields: { problems: expect.stringContaining('back up PostgreSQL with its own tools') as string },
    });
  });
});

describe('a restore', () => {
  async function filled(): Promise<{ readonly site: TestSite; readonly firstMs: number }> {
    const server = await start();
    const site = new TestSite();
    const connection = await server.open(site);
    await connection.commit([insert('accounts', 'a', { name: 'a' })]);
    await copied(server);
    const firstMs = await nextMs();
    for (const id of ['b', 'c']) {
      await connection.commit([insert('accounts', id, { name: id })], { base: 1 });
      await copied(server);
    }
    await server.stop();
    return { site, firstMs };
  }

  it('loses no changes of a device if it goes back in time: the device resends its later writes', async () => {
    const { site, firstMs } = await filled();
    await restore('restored', '--at', iso(firstMs));
    const server = await start('restored', { backup: { to: at('copies-of-restored') } });
    const back = await server.connect(site);
    back.hello(await server.token(), DATABASE);
    expect(await back.next('welcome')).toMatchObject({ fullResync: true, lastAckedSequence: 1, watermark: 1 });
    await back.next('delivery');
    site.lastAckedSequence = 1;
    site.cursor = 1;
    back.push(2, 3, 2);
    await back.decided(3);
    expect(server.query('SELECT id FROM accounts ORDER BY id')).toEqual([['a'], ['b'], ['c']]);
  });

  it('includes the members and the schemas, but not a database that was deleted before', async () => {
    const server = await start('data', { admin: { token: 'a'.repeat(32) } });
    await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
    await (await server.open(undefined, { databaseId: 'gone' })).commit([insert('accounts', 'g', { name: 'g' })]);
    await server.sync.members.setRole(DATABASE, 'zoe', 'owner');
    await copied(server);
    const beforeMs = await nextMs();
    const answer = await server.ask('DELETE', '/admin/api/databases/gone?confirm=gone', { token: 'a'.repeat(32) });
    expect(answer.status).toBe(200);
    await server.stop();
    // The next start records the last deletion.
    const next = await start();
    await until(() => stored('databases/db-gone').some((path) => path.includes('deleted-')));
    await next.stop();
    await restore('after');
    expect([existsSync(pathIn('after')), existsSync(pathIn('after', 'gone'))]).toEqual([true, false]);
    const members = new SqliteMembers(join(at('after'), 'members.sqlite'));
    expect(members.readAll()).toEqual([{ databaseId: DATABASE, principal: 'zoe', role: 'owner' }]);
    members.close();
    expect(readdirSync(join(at('after'), 'schemas'))).toEqual(readdirSync(join(at('data'), 'schemas')));
    await restore('before', '--at', iso(beforeMs));
    expect([existsSync(pathIn('before')), existsSync(pathIn('before', 'gone'))]).toEqual([true, true]);
  });

  it.each([
    ['that a killed server left', ['', '-wal']],
    ['that an earlier restore left when it was killed between two files', ['-wal']],
  ])('replaces the members with the log of SQLite %s', async (_, left) => {
    const server = await start();
    await server.sync.members.setRole(DATABASE, 'zoe', 'owner');
    await server.stop();
    mkdirSync(at('killed'));
    const running = new SqliteMembers(membersPath(at('data')));
    running.write({ databaseId: DATABASE, principal: 'eve', role: 'owner' });
    for (const suffix of left) copyFileSync(membersPath(at('data')) + suffix, membersPath(at('killed')) + suffix);
    running.close();
    await restore('killed');
    const members = new SqliteMembers(membersPath(at('killed')));
    onTestFinished(() => members.close());
    expect(members.readAll()).toEqual([{ databaseId: DATABASE, principal: 'zoe', role: 'owner' }]);
  });

  it('fails if the destination has no copy, or none from that time, and leaves no data directory', async () => {
    const failed = { code: 'config-invalid' };
    await expect(restore('new')).rejects.toMatchObject({
      ...failed,
      fields: { problems: `there is no backup in ${at('copies')}` },
    });
    mkdirSync(at('copies'));
    await expect(restore('new')).rejects.toMatchObject(failed);
    await filled();
    for (const flags of [[], ['--database', DATABASE]])
      await expect(restore('new', '--at', '2020-01-01', ...flags)).rejects.toMatchObject({
        ...failed,
        fields: {
          problems: expect.stringMatching(/no copy from that time .* the first one is from 2\d{3}-/) as string,
        },
      });
    expect(existsSync(at('new'))).toBe(false);
    // A directory that existed before is kept, and a server may start in it.
    mkdirSync(at('old'));
    await expect(restore('old', '--at', '2020-01-01')).rejects.toMatchObject(failed);
    await (await start('old')).stop();
  });

  it('overwrites a database, or uses a directory in use, only with --replace', async () => {
    const { firstMs } = await filled();
    await expect(restore('data')).rejects.toMatchObject({ code: 'config-invalid' });
    await expect(restore('data', '--database', DATABASE)).rejects.toMatchObject({
      fields: { problems: expect.stringContaining(`${DATABASE} exists; --replace keeps its old file`) as string },
    });
    const server = await start();
    await expect(restore('data', '--replace')).rejects.toMatchObject({ code: 'database-unavailable' });
    await server.stop();
    const newest = databaseRows(pathIn('data'));
    await restore('data', '--database', DATABASE, '--at', iso(firstMs), '--replace');
    const query = (path: string): unknown =>
      new DatabaseSync(path, { readOnly: true }).prepare('SELECT count(*) AS n FROM accounts').get();
    expect(query(pathIn('data'))).toEqual({ n: 1 });
    expect(databaseRows(`${pathIn('data')}.replaced-1`)).toEqual(newest);
    await expect(restore('new', '--database', 'unknown')).rejects.toMatchObject({
      fields: { problems: `there is no backup in ${at('copies')} for unknown` },
    });
  });

  it('leaves databases whose deletion is recorded, even before they are copied again', async () => {
    await filled();
    await restore('restored');
    await runDatabases({ flags: ['delete', DATABASE, '--data', at('restored')], environment: {} }, () => undefined);
    const server = await start('restored');
    await until(() => stored(`databases/db-${DATABASE}`).some((path) => path.includes('deleted-')));
    await server.stop();
    await restore('again').then(
      () => expect(existsSync(pathIn('again'))).toBe(false),
      (error: unknown) => expect(error).toMatchObject({ code: 'config-invalid' }),
    );
  });

  it('continues with the same command after an interruption, and no server starts until then', async () => {
    const server = await start();
    for (const databaseId of ['a', 'b', 'c'])
      await (await server.open(undefined, { databaseId })).commit([insert('accounts', databaseId, { name: 'x' })]);
    await copied(server);
    await server.stop();
    // The file of b cannot be written, as on a full disk.
    const blocked = join(at('restored'), 'restoring', 'db-b.sqlite');
    mkdirSync(blocked, { recursive: true });
    await expect(restore('restored')).rejects.toMatchObject({ code: 'EISDIR' });
    expect(existsSync(pathIn('restored', 'a'))).toBe(true);
    await expect(start('restored')).rejects.toMatchObject({
      code: 'database-unavailable',
      fields: { problem: expect.stringContaining('did not finish') as string },
    });
    for (const other of [
      ['--at', '2030-01-01'],
      ['--database', 'c'],
      ['--database', 'c', '--replace'],
    ])
      await expect(restore('restored', ...other)).rejects.toMatchObject({
        fields: { problems: expect.stringContaining('did not finish; run it again with the same arguments') as string },
      });
    rmdirSync(blocked);
    expect(await restore('restored')).toContain('continuing a restore; files that are already complete: 1');
    for (const databaseId of ['a', 'b', 'c'])
      expect(databaseRows(pathIn('restored', databaseId))).toEqual(databaseRows(pathIn('data', databaseId)));
    expect(existsSync(join(at('restored'), 'restoring'))).toBe(false);
  });

  it('restores all other databases if the copies of some are damaged, which stay offline until they are restored', async () => {
    const server = await start();
    for (const databaseId of ['a', 'b', 'c'])
      await (await server.open(undefined, { databaseId })).commit([insert('accounts', databaseId, { name: 'x' })]);
    await server.sync.members.setRole('b', 'zoe', null);
    await copied(server);
    const earlierMs = await nextMs();
    await (await server.open(undefined, { databaseId: 'b' })).commit([insert('accounts', 'later', { name: 'x' })]);
    await copied(server);
    await server.stop();
    const damaged = stored('databases/db-b').findLast((path) => /\/0-\d+/.test(path)) ?? '';
    const content = readFileSync(damaged);
    writeFileSync(damaged, content.subarray(0, content.length - 1));
    const [base = ''] = stored('databases/db-c').filter((path) => /\/b-\d+/.test(path));
    writeFileSync(base, readFileSync(base).subarray(1));
    const failure = await restore('restored').then(
      () => null,
      (error: unknown) => error as RockpoolError,
    );
    expect(failure).toMatchObject({ code: 'backup-damaged', fields: { count: 2 } });
    const [problemOfB = '', problemOfC = ''] = String(failure?.fields['problems']).split('\n');
    expect(problemOfB).toMatch(/^b: databases\/db-b\/.*the end of the object is missing; restore it by --database b/);
    expect(problemOfC).toMatch(/^c: .* --at TIME, with an earlier time$/);
    expect(databaseRows(pathIn('restored', 'a'))).toEqual(databaseRows(pathIn('data', 'a')));
    const members = new SqliteMembers(join(at('restored'), 'members.sqlite'));
    expect(members.readAll()).toEqual([{ databaseId: 'b', principal: 'zoe', role: null }]);
    members.close();
    const again = await start('restored', { backup: undefined as never });
    expect(await (await again.ask('GET', '/ready')).json()).toMatchObject({ damagedDatabases: 2 });
    const connection = await again.connect();
    connection.hello(await again.token('editor', 'ann', 'b'), 'b');
    expect(await connection.next('failure')).toMatchObject({ code: 'database-damaged' });
    await again.stop();
    const until = problemOfB.slice(problemOfB.indexOf('--at ') + 5);
    expect(Date.parse(until)).toBeLessThanOrEqual(earlierMs);
    await restore('restored', '--database', 'b', '--replace', '--at', until);
    await (
      await (await start('restored')).open(undefined, { databaseId: 'b' })
    ).commit([insert('accounts', 'again', { name: 'x' })]);
  });

  it('leaves a database whose copies are damaged in use if it has a file, and says so unless that file is damaged', async () => {
    const server = await start();
    for (const databaseId of ['a', 'b'])
      await (await server.open(undefined, { databaseId })).commit([insert('accounts', databaseId, { name: 'x' })]);
    await copied(server);
    await server.stop();
    for (const databaseId of ['a', 'b']) for (const path of stored(`databases/db-${databaseId}`)) truncateSync(path, 1);
    markDamaged(pathIn('data', 'b'), 'sqlite-corrupt');
    await expect(restore('data', '--replace')).rejects.toMatchObject({
      code: 'backup-damaged',
      fields: {
        problems: expect.stringMatching(
          /^a: .*; until then it stays in use as it is now\nb: .*, with an earlier time$/,
        ),
      },
    });
    const again = await start('data', { backup: undefined as never });
    expect(await (await again.ask('GET', '/ready')).json()).toMatchObject({ damagedDatabases: 1 });
    await (await again.open(undefined, { databaseId: 'a' })).commit([insert('accounts', 'later', { name: 'y' })]);
  });

  it('restores the databases if the copies of the members are damaged, but lets no server start without members', async () => {
    const server = await start();
    await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
    await server.sync.members.setRole(DATABASE, 'zoe', null);
    await copied(server);
    await server.stop();
    for (const path of stored('databases/members')) truncateSync(path, 1);
    const refusal = (problem: RegExp): object => ({
      code: 'backup-damaged',
      fields: { count: 1, problems: expect.stringMatching(problem) as string },
    });
    await expect(restore('restored')).rejects.toMatchObject(
      refusal(/^members: databases\/members\/.*; no server starts without them: put those of another backup/),
    );
    expect(databaseRows(pathIn('restored'))).toEqual(databaseRows(pathIn('data')));
    await expect(start('restored')).rejects.toMatchObject({ code: 'database-unavailable' });
    copyFileSync(join(at('data'), 'members.sqlite'), join(at('restored'), 'members.sqlite'));
    await expect(restore('restored')).rejects.toMatchObject(refusal(/^members: .* stays in use as it is now$/));
    const again = await start('restored', { backup: undefined as never });
    expect(again.sync.members.list(DATABASE)).toEqual([{ principal: 'zoe', role: null }]);
  });

  it('keeps the members that it replaces, and names databases that did not exist at the time', async () => {
    const server = await start();
    await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
    await copied(server);
    const beforeMs = await nextMs();
    await (await server.open(undefined, { databaseId: 'newer' })).commit([insert('accounts', 'n', { name: 'n' })]);
    await server.sync.members.setRole(DATABASE, 'zoe', null);
    await copied(server);
    await server.stop();
    const lines = await restore('data', '--replace', '--at', iso(beforeMs));
    expect(lines).toContainEqual(expect.stringMatching(/^restored members as of .*; the old file is .*\.replaced-1$/));
    expect(lines).toContain('newer stays as it is: it has no copy from that time');
    const kept = new SqliteMembers(join(at('data'), 'members.sqlite.replaced-1'));
    expect(kept.readAll()).toEqual([{ databaseId: DATABASE, principal: 'zoe', role: null }]);
    kept.close();
  });

  it('detects a missing base, instead of restoring an earlier state or leaving the database out', async () => {
    const { firstMs } = await filled();
    const earlier = stored('databases/db-household');
    const record = readFileSync(recordPath(pathIn('data')));
    record.writeUInt32LE(0x0bad_5eed, 516);
    writeFileSync(recordPath(pathIn('data')), record);
    const server = await start();
    const connection = await server.open();
    await connection.commit([insert('accounts', 'c', { name: 'c' })]);
    await copied(server);
    await connection.commit([insert('accounts', 'd', { name: 'd' })]);
    await copied(server);
    await server.stop();
    for (const base of stored('databases/db-household').filter((path) => /\/b-\d+/.test(path)))
      if (!earlier.includes(base)) rmSync(base);
    const missing = {
      code: 'backup-damaged',
      fields: { problem: expect.stringMatching(/^the base of .* is missing$/) },
    };
    await expect(restore('newest', '--database', DATABASE)).rejects.toMatchObject(missing);
    await restore('earlier', '--database', DATABASE, '--at', iso(firstMs));
    for (const path of earlier) rmSync(path);
    await expect(restore('alone', '--database', DATABASE)).rejects.toMatchObject(missing);
    await expect(restore('all')).rejects.toMatchObject({ code: 'backup-damaged', fields: { count: 1 } });
  });

  it('detects a missing copy, a changed byte and a copy from a different history', async () => {
    const { firstMs } = await filled();
    const copies = stored('databases/db-household').filter((path) => /\/0-\d+/.test(path));
    const last = copies.at(-1) ?? '';
    const content = readFileSync(last);
    const changed = Buffer.from(content);
    changed[changed.length - 40] = (changed[changed.length - 40] ?? 0) ^ 1;
    writeFileSync(last, changed);
    await expect(restore('changed', '--database', DATABASE)).rejects.toMatchObject({
      fields: {
        problem: 'the object does not match its hash',
        restorableUntil: expect.stringMatching(/^2\d{3}-.*Z$/) as string,
      },
    });
    // The first copy after the base replaces the last one.
    writeFileSync(last, readFileSync(copies[0] ?? ''));
    await expect(restore('other')).rejects.toMatchObject({ code: 'backup-damaged' });
    writeFileSync(last, content);
    rmSync(copies.at(-2) ?? '');
    await expect(restore('missing', '--database', DATABASE)).rejects.toMatchObject({
      code: 'backup-damaged',
      fields: { problem: expect.stringMatching(/copy \d+ of generation .* is missing/) as string },
    });
    await restore('earlier', '--at', iso(firstMs));
    expect(existsSync(pathIn('earlier'))).toBe(true);
  });
});

it('a deletion has a later time than the copies of the database that was replaced before, even if the clock was set back', () => {
  const path = pathIn('data');
  const timeMs = Date.now() + 3_600_000;
  const facts = { destination: 'd', generation: 'g', copies: 0, pageSizeBytes: 4096, pageCount: 0, stateSum: '' };
  CopyRecord.begin(path)
    .finish({ ...facts, timeMs, watermark: 1, baseBytes: 1, addedBytes: 0, startedMs: timeMs, isComplete: true })
    .close();
  expect(deletionMs(path)).toBe(timeMs);
  forgetCopies(path);
  expect(deletionMs(path)).toBe(timeMs);
});

describe('the copies of one open database', () => {
  interface Copies {
    readonly backup: ContinuousBackup;
    readonly destination: MemoryDestination;
    readonly sql: SqliteFile;
    readonly events: string[];
    /** The databases that the backup has opened. */
    readonly opened: string[];
    /** Sets the clock ahead. */
    readonly wait: (ms: number) => void;
  }

  /** `failure`: the error of the first opening. */
  function prepare(failure: RockpoolError | null = null): Copies {
    const [destination, events, opened] = [new MemoryDestination(), [] as string[], [] as string[]];
    let aheadMs = 0;
    const sql = new SqliteFile(pathIn('data'));
    sql.transaction(() => sql.exec('CREATE TABLE rockpool_log (watermark INTEGER PRIMARY KEY)'));
    const backup = new ContinuousBackup({
      dataDir: at('data'),
      destination,
      run: 'run',
      intervalMs: 1,
      keepMs: 60_000,
      owns: () => true,
      open: (databaseId) =>
        opened.push(databaseId) === 1 && failure !== null ? Promise.reject(failure) : Promise.resolve(),
      onDamaged: () => undefined,
      log: (event) => void events.push(event),
      now: () => Date.now() + aheadMs,
    });
    onTestFinished(() => backup.close());
    return { backup, destination, sql, events, opened, wait: (ms) => void (aheadMs += ms) };
  }

  it('begin later if the record of the copies cannot be read when the database is opened', async () => {
    const { backup, sql, events } = prepare();
    mkdirSync(recordPath(pathIn('data')));
    backup.attach(DATABASE, sql);
    await until(() => events.includes('backup-failed'));
    rmdirSync(recordPath(pathIn('data')));
    await backup.flush(60_000);
    expect(readCopyFacts(pathIn('data'))).toMatchObject({ copies: 0 });
    expect(backup.state.pending).toBe(0);
    sql.close();
  });

  it('begin later if the database cannot be opened, and count as pending until then', async () => {
    const { sql, backup, opened } = prepare(new RockpoolError('server-disk-full'));
    sql.close();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await backup.start();
    while (opened.length === 0) await turn();
    await turn();
    expect(backup.state.pending).toBe(1);
    vi.advanceTimersByTime(60_000);
    while (opened.length === 1) await turn();
    expect(backup.state.pending).toBe(0);
  });

  it('count as failing until the destination works again, also if the database that failed is gone', async () => {
    const { backup, destination, sql, events } = prepare();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const inTime = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) {
        vi.advanceTimersByTime(1_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    destination.onPut = () => 'refuse';
    backup.attach(DATABASE, sql);
    await inTime(() => backup.state.outage !== null);
    sql.close();
    beginFileChange(at('data'), DATABASE, { kind: 'delete' });
    finishFileChange(at('data'), DATABASE, () => undefined);
    await inTime(() => backup.state.failures === 2);
    expect(backup.state.outage).toMatchObject({ code: 'backup-unavailable' });
    destination.onPut = () => 'store';
    await inTime(() => backup.state.outage === null);
    expect(events).toContain('backup-recovered');
  });

  it('begin again after half of the retention if the database no longer changes, so that earlier states expire', async () => {
    const { backup, sql, opened, wait } = prepare();
    const facts = (): CopyFacts | null => readCopyFacts(pathIn('data'));
    const commit = (): void => sql.transaction(() => sql.exec('INSERT INTO rockpool_log DEFAULT VALUES'));
    const settled = (): Promise<unknown> => until(() => backup.state.pending === 0);
    const renew = async (): Promise<void> => {
      await backup.renewOld();
      await settled();
    };
    backup.attach(DATABASE, sql);
    await settled();
    commit();
    await settled();
    const first = facts();
    expect(first).toMatchObject({ copies: 1 });
    await renew();
    expect(facts()?.generation).toBe(first?.generation);
    wait(30_000);
    await renew();
    const second = facts();
    expect(second).toMatchObject({ copies: 0, pageCount: first?.pageCount });
    expect(second?.generation).not.toBe(first?.generation);
    wait(30_000);
    await renew();
    expect(facts()?.generation).toBe(second?.generation);
    commit();
    await settled();
    commit();
    await settled();
    expect(facts()).toMatchObject({ copies: 1 });
    sql.close();
    await renew();
    expect(opened).toEqual([]);
    wait(30_000);
    await renew();
    expect(opened).toEqual([DATABASE]);
    const again = new SqliteFile(pathIn('data'));
    backup.attach(DATABASE, again);
    await settled();
    expect(facts()).toMatchObject({ copies: 0 });
    again.close();
  });

  it('include changes that were committed while an earlier copy was stored', async () => {
    const { backup, destination, sql } = prepare();
    const commit = (): void => sql.transaction(() => sql.exec('INSERT INTO rockpool_log DEFAULT VALUES'));
    backup.attach(DATABASE, sql);
    await until(() => backup.state.pending === 0);
    destination.onPut = () => {
      destination.onPut = () => 'store';
      commit();
      return 'store';
    };
    commit();
    await until(() => backup.state.pending === 0);
    expect(readCopyFacts(pathIn('data'))).toMatchObject({ copies: 2, watermark: 2 });
    sql.close();
  });

  it('do not create a database again that is deleted while it is copied', async () => {
    const { backup, destination, sql, opened } = prepare();
    destination.onPut = (key) => {
      if (!key.startsWith('databases/')) return 'store';
      sql.close();
      beginFileChange(at('data'), DATABASE, { kind: 'delete' });
      finishFileChange(at('data'), DATABASE, () => undefined);
      return 'store';
    };
    backup.attach(DATABASE, sql);
    await until(() => backup.state.pending === 0);
    expect(opened).toEqual([]);
    // The base is complete at the destination, so a restore has to know of the deletion.
    expect(readdirSync(join(at('data'), 'databases'))).toEqual(['db-household.sqlite-forgotten']);
  });
});
