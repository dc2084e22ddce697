import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { until } from '../../../../tests/kit/until.ts';
import { copied } from '../../testing/backup-state.ts';
import { insert } from '../../testing/changeset.ts';
import { databaseRows } from '../../testing/database-rows.ts';
import { TestSite } from '../../testing/test-client.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { runBackup, runVerify } from '../cli/backup.ts';
import { runDatabases } from '../cli/databases.ts';
import { runDoctor } from '../cli/doctor.ts';
import { runRestoreCommand } from '../cli/restore.ts';
import { databasePath } from '../store/data-directory.ts';
import { beginFileChange, finishFileChange, incomingPath, type FileChange } from '../store/file-change.ts';
import { markPath } from '../store/file-damage.ts';
import { readUnloadedMark, type UnloadedMark } from '../store/unloaded-mark.ts';
import type { SyncServerOptions } from '../sync-server.ts';
import type { BackupRules } from './backup-rules.ts';
import { ColdDatabases } from './cold-databases.ts';
import { FolderDestination } from './folder-destination.ts';

const ADMIN = 'a'.repeat(32);

let folder: string;
const at = (name: string): string => join(folder, name);
const path = (data = 'data'): string => databasePath(at(data), DATABASE);

beforeEach(() => {
  folder = temporaryFolder();
});

async function start(backup: Partial<BackupRules> = {}, options: Partial<SyncServerOptions> = {}): Promise<TestServer> {
  const server = await TestServer.start(at('data'), {
    backup: { to: at('copies'), intervalMs: 5, ...backup },
    admin: { token: ADMIN },
    ...options,
  });
  onTestFinished(() => server.stop());
  await server.sync.ready();
  return server;
}

/**
 * Lets a device write to a database, unloads it and stops the server. Returns the rows and the file as they were before
 * the database was unloaded.
 */
async function unloaded(): Promise<{ readonly site: TestSite; readonly rows: object; readonly file: Buffer }> {
  const server = await start();
  const site = new TestSite();
  const connection = await server.open(site);
  await connection.commit([insert('accounts', 'a', { name: 'a' })]);
  await copied(server);
  await server.stop();
  const [rows, file] = [databaseRows(path()), readFileSync(path())];
  for (const suffix of ['-wal', '-shm']) rmSync(path() + suffix, { force: true });
  const cold = await start({ unloadAfterMs: 1 });
  await cold.logged('database-unloaded');
  await cold.stop();
  expect(readdirSync(join(at('data'), 'databases')).sort()).toEqual([
    'db-household.sqlite-copied',
    'db-household.sqlite-unloaded',
  ]);
  // The copy that was read back is removed.
  expect(readdirSync(dirname(incomingPath(at('data'))))).toEqual([]);
  return { site, rows, file };
}

const lines = async (run: (print: (line: string) => void) => unknown): Promise<string[]> => {
  const printed: string[] = [];
  await run((line) => void printed.push(line));
  return printed;
};

describe('a database that is not in use', () => {
  it('is unloaded, and fetched by the next session, which continues from its position', async () => {
    const { site, rows, file } = await unloaded();
    const server = await start();
    expect(await (await server.ask('GET', '/metrics')).text()).toMatch(/^rockpool_databases_unloaded 1$/m);
    const connection = await server.connect(site);
    connection.hello(await server.token(), DATABASE);
    // The log is the same, so there is no full resync.
    expect(await connection.next('welcome')).toMatchObject({ fullResync: false, watermark: 1, lastAckedSequence: 1 });
    expect(server.events.map(({ event }) => event)).toContain('database-fetched');
    expect(databaseRows(path())).toEqual(rows);
    expect(readFileSync(path()).equals(file)).toBe(true);
    expect(await (await server.ask('GET', '/metrics')).text()).toMatch(/^rockpool_databases_unloaded 0$/m);
    connection.socketForAbuse.close();
    await (await server.open()).commit([insert('accounts', 'b', { name: 'b' })]);
    await copied(server);
    await server.stop();
    // The copies continue, without another base.
    expect(readdirSync(join(at('copies'), 'databases', 'db-household'))).toHaveLength(1);
  });

  it('is unloaded without a restart of the server, also if few databases are open', async () => {
    const server = await start({ unloadAfterMs: 50 });
    const connection = await server.open();
    await connection.commit([insert('accounts', 'a', { name: 'a' })]);
    await copied(server);
    expect(existsSync(path())).toBe(true);
    await connection.close();
    await server.logged('database-unloaded');
    expect(existsSync(path())).toBe(false);
  });

  it('does not count as unloaded once it is deleted', async () => {
    await unloaded();
    const server = await start();
    const deleted = await server.ask('DELETE', `/admin/api/databases/${DATABASE}?confirm=${DATABASE}`, {
      token: ADMIN,
    });
    expect(deleted.status).toBe(200);
    expect(await (await server.ask('GET', '/metrics')).text()).toMatch(/^rockpool_databases_unloaded 0$/m);
  });

  it('is reported as unloaded by the admin list, the doctor, the command and the backup', async () => {
    await unloaded();
    const server = await start();
    const list = (await (await server.ask('GET', '/admin/api/databases', { token: ADMIN })).json()) as object;
    expect(list).toMatchObject({ total: 1, databases: [{ id: DATABASE, state: 'unloaded', watermark: 1 }] });
    const exported = await server.ask('GET', `/admin/api/databases/${DATABASE}/export`, { token: ADMIN });
    expect(exported.status).toBe(409);
    await server.stop();
    const data = ['--data', at('data')];
    const command = (...flags: string[]): Promise<string[]> =>
      lines((print) => runDatabases({ flags: [...data, ...flags], environment: {} }, print));
    expect(await command('list')).toEqual([
      expect.stringMatching(/^household\t\d+ bytes, unloaded to .*copies$/) as string,
    ]);
    await expect(command('export', DATABASE, at('file'))).rejects.toMatchObject({ code: 'database-unavailable' });
    const doctor = await lines((print) => runDoctor({ flags: data, environment: {} }, print));
    expect(doctor).toContain(`note     database ${DATABASE}: unloaded to ${at('copies')}, which was not checked`);
    const backup = await lines((print) => runBackup({ flags: [at('backup'), ...data], environment: {} }, print));
    expect(backup[0]).toMatch(/^db-household.sqlite is unloaded to /);
    await runVerify({ flags: [at('backup')], environment: {} }, () => undefined);
    await runRestoreCommand({ flags: [at('backup'), '--data', at('restored')], environment: {} }, () => undefined);
    expect(existsSync(`${path('restored')}-unloaded`)).toBe(true);
    await command('delete', DATABASE);
    expect(readdirSync(join(at('data'), 'databases'))).toEqual(['db-household.sqlite-forgotten']);
  });

  it('is not replaced by an import', async () => {
    await unloaded();
    const command = (...flags: string[]): Promise<string[]> =>
      lines((print) => runDatabases({ flags: ['--data', at('data'), ...flags], environment: {} }, print));
    const server = await start();
    await (await server.open(undefined, { databaseId: 'other' })).commit([insert('accounts', 'b', { name: 'b' })]);
    await server.stop();
    await command('export', 'other', at('file'));
    const before = readdirSync(join(at('data'), 'databases')).sort();
    await expect(command('import', DATABASE, at('file'))).rejects.toMatchObject({
      code: 'config-invalid',
      fields: { problems: `${DATABASE} already exists` },
    });
    expect(readdirSync(join(at('data'), 'databases')).sort()).toEqual(before);
  });

  it('is never replaced by an empty database: while it cannot be fetched, its sessions end and the fetch is retried', async () => {
    const { site } = await unloaded();
    renameSync(at('copies'), at('away'));
    writeFileSync(at('copies'), 'not a folder');
    const server = await start();
    for (let i = 0; i < 2; i++) {
      const connection = await server.connect(site);
      connection.hello(await server.token(), DATABASE);
      expect(await connection.failure()).toMatchObject({ code: 'backup-unavailable' });
      expect(existsSync(path())).toBe(false);
    }
    rmSync(at('copies'));
    renameSync(at('away'), at('copies'));
    const connection = await server.connect(site);
    connection.hello(await server.token(), DATABASE);
    expect(await connection.next('welcome')).toMatchObject({ watermark: 1 });
    await server.stop();
  });

  it.each([
    ['the disk of the backup is not mounted', 'copies', 'server.json is missing'],
    ['the server copies to another folder', 'others', 'the database is unloaded to'],
  ])('makes its sessions try again while %s', async (_, to, problem) => {
    const { site } = await unloaded();
    if (to === 'copies') renameSync(at('copies'), at('away'));
    const server = await start({ to: at(to) });
    const refused = await server.connect(site);
    refused.hello(await server.token(), DATABASE);
    expect(await refused.failure()).toMatchObject({
      code: 'backup-unavailable',
      fields: { problem: expect.stringContaining(problem) as string },
    });
    await server.stop();
    if (to === 'copies') renameSync(at('away'), at('copies'));
    const again = await start();
    const connection = await again.connect(site);
    connection.hello(await again.token(), DATABASE);
    expect(await connection.next('welcome')).toMatchObject({ watermark: 1 });
  });

  it('is not opened by a server without the backup, or from a damaged copy', async () => {
    const { site } = await unloaded();
    const failureOf = async (server: TestServer): Promise<unknown> => {
      const connection = await server.connect(site);
      connection.hello(await server.token(), DATABASE);
      const failure = await connection.failure();
      await server.stop();
      return failure;
    };
    expect(await failureOf(await start({}, { backup: undefined as never }))).toMatchObject({
      code: 'database-unavailable',
      fields: { problem: `the database is unloaded to ${at('copies')}: start the server with --backup-to` },
    });
    const [base = ''] = readdirSync(at('copies'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\/b-/.test(name),
    );
    const content = readFileSync(join(at('copies'), base));
    content[60] = (content[60] ?? 0) ^ 1;
    writeFileSync(join(at('copies'), base), content);
    expect(await failureOf(await start())).toMatchObject({ code: 'backup-damaged' });
    expect(existsSync(path())).toBe(false);
  });

  it('stays on the server if its copy is incorrect', async () => {
    const server = await start();
    await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
    await copied(server);
    await server.stop();
    const [base = ''] = readdirSync(at('copies'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\/b-/.test(name),
    );
    const size = statSync(join(at('copies'), base)).size;
    writeFileSync(join(at('copies'), base), readFileSync(join(at('copies'), base)).subarray(0, size - 1));
    const cold = await start({ unloadAfterMs: 1 });
    await cold.logged('database-unload-failed');
    expect(existsSync(path())).toBe(true);
    await (await cold.open()).commit([insert('accounts', 'b', { name: 'b' })]);
    expect(cold.events.map(({ event }) => event)).not.toContain('database-unloaded');
  });
});

/** Sends no object before `release` is called. */
class HeldDestination extends FolderDestination {
  asked = 0;
  private readonly released = Promise.withResolvers<void>();

  release(): void {
    this.released.resolve();
  }

  override async get(key: string): Promise<Uint8Array | null> {
    this.asked++;
    await this.released.promise;
    return super.get(key);
  }
}

/** Begins to fetch the unloaded database. Once `end` lets the fetch end, it returns the event that the fetch logs. */
async function beginLateFetch(isHeld: () => boolean = () => false): Promise<{ readonly end: () => Promise<object> }> {
  const destination = new HeldDestination(at('copies'));
  const logged = Promise.withResolvers<object>();
  const cold = new ColdDatabases({
    dataDir: at('data'),
    destination,
    unloadAfterMs: null,
    owns: () => true,
    closeUnused: () => Promise.resolve(),
    isInUse: () => true,
    hold: () => Promise.resolve(),
    isHeld,
    isHeldBy: () => false,
    release: () => undefined,
    log: (event, fields) => logged.resolve({ event, ...fields }),
    now: Date.now,
    fetchWaitMs: 1,
  });
  onTestFinished(() => cold.close());
  await expect(cold.prepare(DATABASE)).rejects.toMatchObject({ code: 'database-fetching' });
  return {
    end: () => {
      destination.release();
      return logged.promise;
    },
  };
}

it('a damaged database is not unloaded', async () => {
  const server = await start();
  await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
  await copied(server);
  await server.stop();
  writeFileSync(markPath(path()), '');
  const events: string[] = [];
  const cold = new ColdDatabases({
    ...{ dataDir: at('data'), destination: new FolderDestination(at('copies')), unloadAfterMs: 1 },
    owns: () => true,
    closeUnused: () => Promise.resolve(),
    isInUse: () => false,
    hold: () => Promise.resolve(),
    isHeld: () => false,
    isHeldBy: () => true,
    release: () => undefined,
    log: (event) => void events.push(event),
    now: () => Date.now() + 1_000,
  });
  onTestFinished(() => cold.close());
  await cold.pass();
  expect([existsSync(path()), events]).toEqual([true, []]);
  rmSync(markPath(path()));
  await cold.pass();
  expect([existsSync(path()), events]).toEqual([false, ['database-unloaded']]);
});

it('a server that stops does not finish the unloading of a database', async () => {
  const server = await start();
  const connection = await server.open();
  for (let i = 0; i < 12; i++) {
    await connection.commit([insert('accounts', `a${i}`, { name: 'a' })]);
    await copied(server);
  }
  await server.stop();
  const destination = new HeldDestination(at('copies'));
  const events: string[] = [];
  const cold = new ColdDatabases({
    ...{ dataDir: at('data'), destination, unloadAfterMs: 1 },
    owns: () => true,
    closeUnused: () => Promise.resolve(),
    isInUse: () => false,
    hold: () => Promise.resolve(),
    isHeld: () => false,
    isHeldBy: () => true,
    release: () => undefined,
    log: (event) => void events.push(event),
    now: () => Date.now() + 1_000,
  });
  void cold.pass();
  await until(() => destination.asked > 0);
  const closed = cold.close();
  destination.release();
  await closed;
  // At most 8 objects are fetched ahead.
  expect(destination.asked).toBeLessThan(10);
  expect(events).toEqual([]);
  expect([existsSync(path()), readdirSync(join(at('data'), 'incoming'))]).toEqual([true, []]);
});

function change(fileChange: FileChange): void {
  beginFileChange(at('data'), DATABASE, fileChange);
  finishFileChange(at('data'), DATABASE, () => undefined);
}

const databaseFiles = (): string[] => readdirSync(join(at('data'), 'databases')).sort();

describe('a fetch that ends after its sessions have stopped waiting', () => {
  const stopped = { event: 'database-fetch-failed', code: 'database-unavailable' };

  it('installs the database', async () => {
    const { rows } = await unloaded();
    const fetch = await beginLateFetch();
    expect(await fetch.end()).toMatchObject({ event: 'database-fetched' });
    expect(databaseRows(path())).toEqual(rows);
  });

  it('fails for now if the disk of the backup is no longer mounted', async () => {
    await unloaded();
    const fetch = await beginLateFetch();
    renameSync(at('copies'), at('away'));
    expect(await fetch.end()).toMatchObject({ event: 'database-fetch-failed', code: 'backup-unavailable' });
  });

  it('does not bring back a database that was deleted meanwhile', async () => {
    await unloaded();
    const fetch = await beginLateFetch();
    change({ kind: 'delete' });
    expect(await fetch.end()).toMatchObject(stopped);
    expect(databaseFiles()).toEqual(['db-household.sqlite-forgotten']);
    expect(readdirSync(join(at('data'), 'fetching'))).toEqual([]);
  });

  it('leaves nothing of a database that was deleted after the fetch was interrupted', async () => {
    await unloaded();
    const fetching = join(at('data'), 'fetching');
    mkdirSync(fetching);
    for (const suffix of ['', '.progress']) writeFileSync(join(fetching, `db-household.sqlite${suffix}`), 'a part');
    change({ kind: 'delete' });
    expect(readdirSync(fetching)).toEqual([]);
  });

  it('does not replace a database that clients have created again after it was deleted', async () => {
    await unloaded();
    const fetch = await beginLateFetch();
    change({ kind: 'delete' });
    const server = await start({}, { backup: undefined as never });
    await (await server.open()).commit([insert('accounts', 'b', { name: 'b' })]);
    expect(await fetch.end()).toMatchObject(stopped);
    expect(server.query('SELECT id FROM accounts')).toEqual([['b']]);
    expect(databaseFiles().filter((name) => name.includes('replaced'))).toEqual([]);
  });

  it('does not touch a database that was unloaded again meanwhile', async () => {
    await unloaded();
    const fetch = await beginLateFetch();
    const mark = readUnloadedMark(path()) as UnloadedMark;
    change({ kind: 'unload', mark: { ...mark, unloadedMs: mark.unloadedMs + 1 } });
    expect(await fetch.end()).toMatchObject(stopped);
    expect(existsSync(path())).toBe(false);
  });

  it('does not interfere with an operation that has begun', async () => {
    const { rows } = await unloaded();
    let isHeld = false;
    const fetch = await beginLateFetch(() => isHeld);
    isHeld = true;
    expect(await fetch.end()).toMatchObject(stopped);
    expect(existsSync(path())).toBe(false);
    // Only the record of the operation exists, as when the disk was full.
    const interrupted = await beginLateFetch();
    beginFileChange(at('data'), DATABASE, { kind: 'delete' });
    expect(await interrupted.end()).toMatchObject(stopped);
    expect(existsSync(path())).toBe(false);
    rmSync(`${path()}-changing`);
    expect(await (await beginLateFetch()).end()).toMatchObject({ event: 'database-fetched' });
    expect(databaseRows(path())).toEqual(rows);
  });
});

describe('a file that replaces a database', () => {
  it('is copied as a whole', async () => {
    const server = await start();
    await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
    const body = await (
      await server.ask('GET', `/admin/api/databases/${DATABASE}/export`, { token: ADMIN })
    ).arrayBuffer();
    await (await server.open()).commit([insert('accounts', 'b', { name: 'b' })]);
    await copied(server);
    const answer = await fetch(`http://${server.host}/admin/api/databases/${DATABASE}/replace?confirm=${DATABASE}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}` },
      body,
    });
    expect(answer.status).toBe(200);
    await (await server.open()).commit([insert('accounts', 'c', { name: 'c' })]);
    await copied(server);
    await server.stop();
    await runRestoreCommand(
      { flags: ['--from', at('copies'), '--data', at('restored')], environment: {} },
      () => undefined,
    );
    expect(databaseRows(path('restored'))).toEqual(databaseRows(path()));
  });
});
