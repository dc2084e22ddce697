import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../cli.ts';
import { runDoctor } from '../cli/doctor.ts';
import { runMembers } from '../cli/members.ts';
import { createSyncServer } from '../create-sync-server.ts';
import { insert } from '../../testing/changeset.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { DATABASE, TEST_SECRET, TestServer } from '../../testing/test-server.ts';
import { databasePath } from './data-directory.ts';
import { isLocked } from './directory-lock.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
let data: string;
let path: string;
let server: TestServer | null;
beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder, 'data');
  path = databasePath(data, DATABASE);
  server = null;
});
afterEach(async () => {
  await server?.stop();
});

/** `passIntervalMs` is the interval at which the server scrubs its files. */
async function start(passIntervalMs = 1_000_000): Promise<TestServer> {
  server = await TestServer.start(data, {
    snapshots: { minFileBytes: 1 },
    scrub: { sliceIntervalMs: 0, passIntervalMs },
  });
  return server;
}

async function stop(): Promise<void> {
  await server?.stop();
  server = null;
}

/** Two databases with some rows, in files that no server has open. */
async function stored(): Promise<TestSite> {
  const site = new TestSite();
  const running = await start();
  const connection = await running.open(site);
  for (let i = 0; i < 40; i++)
    await connection.commit([insert('accounts', `a${i}`, { name: `account ${i} `.repeat(50) })]);
  await (await running.open(undefined, { databaseId: 'other' })).commit([insert('accounts', 'x', { name: 'theirs' })]);
  await stop();
  return site;
}

async function refused(connection: TestConnection, databaseId: string = DATABASE): Promise<unknown> {
  connection.hello(await (server as TestServer).token('editor', 'ann', databaseId), databaseId);
  return connection.next('failure');
}

const ready = async (): Promise<unknown> => (await (server as TestServer).ask('GET', '/ready')).json();

function flip(offset: number): void {
  const bytes = readFileSync(path);
  bytes[offset] = (bytes[offset] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

function damageLog(): void {
  const log = openSync(`${path}-wal`, 'r+');
  writeSync(log, 'damaged', 500);
  closeSync(log);
}

async function command(...args: string[]): Promise<number> {
  return run([...args, '--data', data]);
}

describe('a database with a damaged file', () => {
  it.each<[string, string, () => void]>([
    ['is empty', 'empty', () => truncateSync(path, 0)],
    ['is missing', 'missing', () => rmSync(path)],
    [
      'is missing and its checksums are unreadable',
      'missing',
      (): void => {
        rmSync(path);
        writeFileSync(`${path}-sums`, 'x');
      },
    ],
    ['is truncated', 'truncated', () => truncateSync(path, 8 * 4096)],
    ['was overwritten with other data', 'not-sqlite', () => writeFileSync(path, 'x'.repeat(10_000))],
  ])('goes offline with a reason if the file %s, and the other databases are served', async (_, problem, damage) => {
    const site = await stored();
    damage();
    const running = await start();
    expect(await refused(await running.connect(site))).toMatchObject({ code: 'database-damaged', fields: { problem } });
    const other = await running.open(undefined, { databaseId: 'other' });
    await other.commit([insert('accounts', 'y', { name: 'still served' })]);
    expect(running.events).toContainEqual({
      event: 'database-damaged',
      fields: expect.objectContaining({ database: DATABASE, problem, code: 'database-damaged' }) as unknown,
    });
    expect(await ready()).toEqual({ status: 'ready', damagedDatabases: 1, unservableDatabases: 0 });
    expect(await (await running.ask('GET', '/metrics')).text()).toMatch(/^rockpool_databases_damaged 1$/m);
    expect(existsSync(path)).toBe(problem !== 'missing');
    await stop();
    await start();
    // Also before a client asks for it.
    expect(await ready()).toMatchObject({ damagedDatabases: 1 });
  });

  it('opens again if the server was killed before it wrote the first checksums of a new database', async () => {
    await (await start()).open();
    await stop();
    // Leaves the files as a kill before the first checksums were written would.
    rmSync(`${path}-sums`);
    expect(await (await start()).open()).toMatchObject({ closed: null });
  });
});

it('a server that cannot close one file reports it, closes the others, and releases its data directory', async () => {
  const events: object[] = [];
  const log = (event: string, fields: object): void => void events.push({ event, ...fields });
  const sync = createSyncServer({ dataDir: data, schema: TEST_SCHEMA, secret: TEST_SECRET, log });
  for (const databaseId of [DATABASE, 'other'])
    await sync.database(databaseId).transaction((tx) => tx.insert('accounts', { id: 'a', name: 'a' }));
  damageLog();
  await expect(sync.close()).rejects.toMatchObject({ code: 'database-damaged' });
  expect(events).toContainEqual(expect.objectContaining({ event: 'database-damaged', database: DATABASE }));
  expect(existsSync(`${databasePath(data, 'other')}-wal`)).toBe(false);
  expect(isLocked(data)).toBe(false);
  // SQLite has moved the damaged log into the file.
  expect(await refused(await (await start()).connect())).toMatchObject({
    code: 'database-damaged',
    fields: { problem: 'log-checksum' },
  });
});

it('a damaged log ends only the sessions of its database, even if the damage cannot be marked', async () => {
  const running = await start();
  const connection = await running.open();
  const other = await running.open(undefined, { databaseId: 'other' });
  await connection.commit([insert('accounts', 'a', { name: 'a' })]);
  damageLog();
  // The mark cannot be written, as on a disk that has become read-only.
  mkdirSync(`${path}-damaged`);
  // Makes the log long enough to be moved into the file, which finds the damage.
  await connection.commit(
    Array.from({ length: 1_400 }, (_, i) => insert('accounts', `${i}`, { name: `${i}`.padEnd(3_500, 'x') })),
  );
  connection.site.write([insert('accounts', 'b', { name: 'b' })]);
  connection.push();
  expect(await connection.failure()).toMatchObject({
    code: 'database-damaged',
    fields: { problem: 'log-checksum' },
  });
  expect(await other.commit([insert('accounts', 'y', { name: 'still served' })])).toMatchObject({ kind: 'admitted' });
  expect(await ready()).toMatchObject({ status: 'ready', damagedDatabases: 1 });
  rmdirSync(`${path}-damaged`);
});

describe('one flipped byte', () => {
  it('is found in idle time: the sessions of that database end with the reason, and it stays offline after a restart', async () => {
    const site = await stored();
    const running = await start(1);
    const connection = await running.open(site);
    const other = await running.open(undefined, { databaseId: 'other' });
    flip(20_000);
    expect(await connection.next('failure')).toMatchObject({
      code: 'database-damaged',
      fields: { problem: 'page-checksum', pages: 1 },
    });
    await other.commit([insert('accounts', 'y', { name: 'still served' })]);
    expect(await ready()).toEqual({ status: 'ready', damagedDatabases: 1, unservableDatabases: 0 });
    await stop();
    const again = await start();
    // Also before a client asks for it.
    expect(await ready()).toMatchObject({ damagedDatabases: 1 });
    expect(again.events).toMatchObject([{ event: 'database-damaged', fields: { database: DATABASE } }]);
    expect(await refused(await again.connect(site))).toMatchObject({
      code: 'database-damaged',
      fields: { problem: 'page-checksum' },
    });
  });

  it('is found before a snapshot is built, so no device receives it', async () => {
    await stored();
    const running = await start();
    await running.open();
    flip(20_000);
    const response = await running.ask('GET', `/databases/${DATABASE}/snapshot?schema=${TEST_SCHEMA.hash}`, {
      token: await running.token('viewer'),
    });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'database-damaged', recovery: 'retry' });
  });

  it('is found by the doctor, which names the database', async () => {
    await stored();
    expect(await command('doctor')).toBe(0);
    flip(20_000);
    expect(await command('doctor')).toBe(1);
  });

  it('is found by a backup, which leaves the database out and fails', async () => {
    await stored();
    flip(20_000);
    expect(await command('backup', join(folder, 'backup'))).toBe(1);
    expect(readdirSync(join(folder, 'backup')).sort()).toEqual([
      'db-other.sqlite',
      'manifest.json',
      'members.sqlite',
      'schemas',
    ]);
  });

  it('takes the database offline when SQLite reads it, and causes no internal error', async () => {
    const site = await stored();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4096);
    writeFileSync(path, bytes);
    const running = await start();
    expect(await refused(await running.connect(site))).toMatchObject({
      code: 'database-damaged',
      fields: { problem: 'sqlite-corrupt' },
    });
    expect(running.events.map(({ event }) => event)).not.toContain('session-error');
  });
});

describe('a missing file', () => {
  it.each<[string, () => void]>([
    ['damage was found before', () => writeFileSync(`${path}-damaged`, 'page-checksum\n')],
    ['the checksum file is unreadable', () => writeFileSync(`${path}-sums`, 'x')],
  ])('is found by the doctor and by a backup, which copies the other files, also if %s', async (_, damage) => {
    await stored();
    damage();
    rmSync(path);
    expect(await command('doctor')).toBe(1);
    expect(await command('backup', join(folder, 'backup'))).toBe(1);
    expect(readdirSync(join(folder, 'backup'))).toEqual(expect.arrayContaining(['db-other.sqlite', 'manifest.json']));
  });
});

describe('a damaged database', () => {
  it('is repaired from a backup, and devices send the changes that the backup lacks', async () => {
    const site = await stored();
    expect(await command('backup', join(folder, 'backup'))).toBe(0);
    const running = await start();
    const connection = await running.open(site);
    await connection.commit([insert('accounts', 'later', { name: 'after the backup' })]);
    await stop();
    truncateSync(path, 0);
    expect(await command('databases', 'replace', DATABASE, join(folder, 'backup', `db-${DATABASE}.sqlite`))).toBe(0);
    expect(await command('doctor')).toBe(0);
    const repaired = await start();
    const back = await repaired.connect(site);
    back.hello(await repaired.token(), DATABASE);
    expect(await back.next('welcome')).toMatchObject({ lastAckedSequence: 40 });
    back.push(41, 41, 41);
    await back.decided(41);
    expect(repaired.query(`SELECT count(*), max(id) FROM accounts`)).toEqual([[41n, 'later']]);
    expect(await ready()).toEqual({ status: 'ready', damagedDatabases: 0, unservableDatabases: 0 });
  });

  it('can be accepted in its current state after another program has written to it', async () => {
    await stored();
    const beside = join(folder, 'beside.sqlite');
    copyFileSync(path, beside);
    flip(30_000);
    await (await start(1)).logged('database-damaged');
    await stop();
    // Restored by hand: the damage mark stays until an administrator accepts the file.
    copyFileSync(beside, path);
    expect(await command('doctor')).toBe(1);
    expect(await command('databases', 'accept', DATABASE)).toBe(0);
    expect(await command('doctor')).toBe(0);
    await (await start()).open();
  });
});

it('no server starts without the members of an earlier run, unless an empty file stands for them', async () => {
  await stored();
  const running = await start();
  await running.sync.members.setRole(DATABASE, 'stolen', null);
  await stop();
  const members = join(data, 'members.sqlite');
  rmSync(members);
  const lost = expect.stringContaining(`${members} is missing, and no server starts without it`) as string;
  await expect(start()).rejects.toMatchObject({ code: 'config-invalid', fields: { problems: lost } });
  expect([existsSync(members), isLocked(data)]).toEqual([false, false]);
  const printed: string[] = [];
  const sources = { flags: ['--data', data], environment: {} };
  expect(await runDoctor(sources, (line) => void printed.push(line))).toBe(false);
  expect(printed.join('\n')).toContain(`problem  members and schemas: ${members} is missing`);
  // A command that only reads does not create them, which would hide the loss.
  const flags = ['list', DATABASE, ...sources.flags];
  await expect(runMembers({ flags, environment: {} }, () => undefined)).rejects.toMatchObject({
    code: 'config-invalid',
  });
  writeFileSync(members, '');
  expect((await start()).sync.members.list(DATABASE)).toEqual([]);
});

it('a damaged file of the members is named, and a damaged schema does not keep the server from starting', async () => {
  await stored();
  const [schema = ''] = readdirSync(join(data, 'schemas'));
  writeFileSync(join(data, 'schemas', 'older.json'), readFileSync(join(data, 'schemas', schema)).subarray(0, 100));
  const running = await start();
  expect(running.events).toMatchObject([{ event: 'schema-unreadable', fields: { file: 'older.json' } }]);
  await stop();
  writeFileSync(join(data, 'members.sqlite'), 'x'.repeat(10_000));
  await expect(start()).rejects.toMatchObject({
    code: 'config-invalid',
    fields: { problems: expect.stringContaining(`${join(data, 'members.sqlite')} is damaged`) as string },
  });
  expect(isLocked(data)).toBe(false);
});
