import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { run } from '../cli.ts';
import { databaseRows } from '../../testing/database-rows.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { databasePath, mayHaveCopies } from '../store/data-directory.ts';
import { readBackupEntry } from './backup-contents.ts';
import { readManifest, runBackup } from './backup.ts';
import { restoreSteps, runRestore } from './restore-backup.ts';

const OTHER = 'other';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
const at = (...names: string[]): string => join(folder, ...names);

async function start(data: string): Promise<TestServer> {
  mkdirSync(at(data), { recursive: true });
  const server = await TestServer.start(at(data));
  onTestFinished(() => server.stop());
  await server.sync.ready();
  return server;
}

/** A backup of two databases, members and a schema. */
async function backUp(): Promise<void> {
  const server = await start('data');
  for (const databaseId of [DATABASE, OTHER])
    await (await server.open(undefined, { databaseId })).commit([insert('accounts', databaseId, { name: 'a' })]);
  await server.sync.members.setRole(DATABASE, 'cyd', 'viewer');
  await server.stop();
  await runBackup({ flags: [at('backup'), '--data', at('data')], environment: {} }, () => undefined);
}

const restore = (backup: string, data: string): Promise<void> =>
  runRestore({ flags: [at(backup), '--data', at(data)], environment: {} }, () => undefined);

/** Runs a restore that is killed after `steps` steps. Returns false if the restore was complete before the kill. */
function killedRestore(data: string, steps: number): boolean {
  mkdirSync(at(data));
  const entries = Object.keys(readManifest(at('backup'))).map(
    (name) => [name, readBackupEntry(name, at(data)) as NonNullable<ReturnType<typeof readBackupEntry>>] as const,
  );
  const restoring = restoreSteps(at(data), at('backup'), entries, { damaged: new Set(), print: () => undefined });
  for (let step = 0; step < steps; step++) if (restoring.next().done === true) return false;
  // Releases the lock, as the end of a process does.
  restoring.return([]);
  return true;
}

it('a restore that is killed anywhere leaves a directory that no server uses, and the same command completes it', async () => {
  await backUp();
  let kills = 0;
  for (let steps = 1; killedRestore(`killed-${steps}`, steps); steps++) {
    const data = `killed-${steps}`;
    kills++;
    const refused = {
      code: 'database-unavailable',
      fields: { problem: expect.stringContaining('did not finish') as string },
    };
    await expect(TestServer.start(at(data))).rejects.toMatchObject(refused);
    await expect(
      runBackup({ flags: [at('again'), '--data', at(data)], environment: {} }, () => undefined),
    ).rejects.toMatchObject(refused);
    await restore('backup', data);
    for (const databaseId of [DATABASE, OTHER])
      expect(databaseRows(databasePath(at(data), databaseId))).toEqual(
        databaseRows(databasePath(at('data'), databaseId)),
      );
    expect(existsSync(at(data, 'restoring'))).toBe(false);
    const server = await start(data);
    expect(server.sync.members.list(DATABASE)).toMatchObject([{ principal: 'cyd', role: 'viewer' }]);
    await server.stop();
  }
  // One kill before the first file, and one after each file.
  expect(kills).toBe(1 + readdirSync(at('backup')).length - 1 + readdirSync(at('backup', 'schemas')).length - 1);
});

it('a restore keeps members that the directory has already, and names them', async () => {
  await backUp();
  const server = await start('restored');
  await server.sync.members.setRole(DATABASE, 'stolen', null);
  await server.stop();
  const printed: string[] = [];
  await runRestore({ flags: [at('backup'), '--data', at('restored')], environment: {} }, (line) => printed.push(line));
  const kept = at('restored', 'members.sqlite.replaced-1');
  expect(printed).toContain(`the members that were in the directory are in ${kept}`);
  expect(await run(['members', 'import', kept, '--data', at('restored')])).toBe(0);
  expect((await start('restored')).sync.members.list(DATABASE)).toMatchObject([
    { principal: 'cyd', role: 'viewer' },
    { principal: 'stolen', role: null },
  ]);
});

it('the deletion of a restored database is recorded in the continuous backup', async () => {
  await backUp();
  await restore('backup', 'restored');
  for (const databaseId of [DATABASE, OTHER])
    expect(mayHaveCopies(databasePath(at('restored'), databaseId))).toBe(true);
  expect(await run(['databases', 'delete', OTHER, '--data', at('restored')])).toBe(0);
  expect(existsSync(`${databasePath(at('restored'), OTHER)}-forgotten`)).toBe(true);
});

it('a restore does not continue a restore of a different backup, or begin in a directory with databases', async () => {
  await backUp();
  killedRestore('killed', 2);
  await runBackup({ flags: [at('second'), '--data', at('data')], environment: {} }, () => undefined);
  await expect(restore('second', 'killed')).rejects.toMatchObject({
    fields: { problems: expect.stringContaining(`a restore from the backup ${at('backup')} did not finish`) as string },
  });
  await restore('backup', 'killed');
  await expect(restore('backup', 'killed')).rejects.toMatchObject({
    fields: { problems: `${at('killed')} already has databases` },
  });
});

it('a restore leaves out a damaged database, which stays offline until it is replaced', async () => {
  await backUp();
  copyFileSync(at('backup', 'db-other.sqlite'), at('intact.sqlite'));
  truncateSync(at('backup', 'db-other.sqlite'), 4096);
  await expect(restore('backup', 'restored')).rejects.toMatchObject({
    code: 'backup-damaged',
    fields: {
      count: 1,
      problems: expect.stringMatching(
        /^db-other\.sqlite is missing or differs .*; its database stays offline/,
      ) as string,
    },
  });
  expect(databaseRows(databasePath(at('restored'), DATABASE))).toEqual(
    databaseRows(databasePath(at('data'), DATABASE)),
  );
  const server = await start('restored');
  expect(server.sync.members.list(DATABASE)).toMatchObject([{ principal: 'cyd', role: 'viewer' }]);
  const refused = await server.connect();
  refused.hello(await server.token('editor', 'ann', OTHER), OTHER);
  expect(await refused.next('failure')).toMatchObject({ code: 'database-damaged' });
  await server.stop();
  expect(await run(['databases', 'replace', OTHER, at('intact.sqlite'), '--data', at('restored')])).toBe(0);
  expect((await (await start('restored')).open(undefined, { databaseId: OTHER })).site.cursor).toBe(1);
});

it('a restore leaves out a database that is damaged since an interrupted run restored it', async () => {
  await backUp();
  const names = Object.keys(readManifest(at('backup')));
  killedRestore('killed', names.indexOf('db-other.sqlite') + 2);
  expect(existsSync(databasePath(at('killed'), OTHER))).toBe(true);
  truncateSync(at('backup', 'db-other.sqlite'), 4096);
  await expect(restore('backup', 'killed')).rejects.toMatchObject({ code: 'backup-damaged' });
  expect(existsSync(databasePath(at('killed'), OTHER))).toBe(false);
  const server = await start('killed');
  const refused = await server.connect();
  refused.hello(await server.token('editor', 'ann', OTHER), OTHER);
  expect(await refused.next('failure')).toMatchObject({ code: 'database-damaged' });
});

it('a restore without intact members restores the databases, but no server starts before members are back', async () => {
  await backUp();
  rmSync(at('backup', 'members.sqlite'));
  const refusal = (problem: RegExp): object => ({
    code: 'backup-damaged',
    fields: { count: 1, problems: expect.stringMatching(problem) as string },
  });
  await expect(restore('backup', 'restored')).rejects.toMatchObject(
    refusal(/^members\.sqlite is missing or differs .*; no server starts without it/),
  );
  expect(existsSync(databasePath(at('restored'), OTHER))).toBe(true);
  await expect(TestServer.start(at('restored'))).rejects.toMatchObject({ code: 'database-unavailable' });
  copyFileSync(at('data', 'members.sqlite'), at('restored', 'members.sqlite'));
  await expect(restore('backup', 'restored')).rejects.toMatchObject(refusal(/stays in use as it is now$/));
  const server = await start('restored');
  expect(server.sync.members.list(DATABASE)).toMatchObject([{ principal: 'cyd', role: 'viewer' }]);
  await (await server.open(undefined, { databaseId: OTHER })).close();
});
