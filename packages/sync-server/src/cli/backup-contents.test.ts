import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { buildSchema, type Schema } from '@rockpool/shared';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { copied } from '../../testing/backup-state.ts';
import { insert } from '../../testing/changeset.ts';
import { column, table, TEST_SCHEMA, TEST_TABLES } from '../../testing/test-schema.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import type { SyncServerOptions } from '../sync-server.ts';
import { databasePath } from '../store/data-directory.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { readManifest, runBackup } from './backup.ts';
import { runRestoreCommand } from './restore.ts';

const NEWER: Schema = buildSchema([
  ...TEST_TABLES,
  table('tags', [column('id', 'text', { notNull: true }), column('name', 'text')]),
]);

/** Every kind of file in a data directory: whether a backup contains it, or why not. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^databases\/db-[\w~-]+\.sqlite$/, 'in the backup'],
  [/^databases\/db-[\w~-]+\.sqlite-(?:unloaded|forgotten)$/, 'in the backup'],
  [/^members\.sqlite$/, 'in the backup'],
  [/^schemas\/\w+\.json$/, 'in the backup'],
  [/\.sqlite-(?:wal|shm)$/, 'SQLite’s own; the copy of the database includes it'],
  [/\.sqlite-sums$/, 'computed from the copy'],
  [/-copied(?:\.new)?$/, 'describes the original, and the continuous backup of the copy begins a generation'],
  [/\.sqlite-damaged$/, 'belongs to a file that is not backed up'],
  [/\.sqlite-changing$/, 'fails the backup until the change is done'],
  [/\.replaced-\d+(?:-wal)?$/, 'an old file for the operator'],
  [/^(?:incoming|fetching|snapshots|restoring)(?:\/|$)/, 'not complete, or made again'],
  [/^server\.lock(?:-journal)?$/, 'the lock of one process'],
];

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const at = (...names: string[]): string => join(folder, ...names);

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}

async function start(data: string, options: Partial<SyncServerOptions> = {}): Promise<TestServer> {
  mkdirSync(at(data), { recursive: true });
  const server = await TestServer.start(at(data), options);
  onTestFinished(() => server.stop());
  await server.sync.ready();
  return server;
}

const backUp = (data: string, to: string): Promise<void> =>
  runBackup({ flags: [at(to), '--data', at(data)], environment: {} }, () => undefined);
const restore = (from: string, data: string): Promise<void> =>
  runRestoreCommand({ flags: [at(from), '--data', at(data)], environment: {} }, () => undefined);

it('a backup contains every file of a data directory, or gives a reason for leaving it out', async () => {
  const server = await start('data', { backup: { to: at('copies'), intervalMs: 5 } });
  await (await server.open()).commit([insert('accounts', 'a', { name: 'a' })]);
  await copied(server);
  const whileRunning = filesIn(at('data'));
  await server.stop();
  const mark = { destination: '/copies', generation: 'g', copies: 1, stateSum: '', sizeBytes: 1, watermark: 1 };
  writeFileSync(`${databasePath(at('data'), 'cold')}-unloaded`, JSON.stringify(mark));
  writeFileSync(`${databasePath(at('data'), 'gone')}-forgotten`, '1');
  writeFileSync(`${databasePath(at('data'), DATABASE)}.replaced-1`, 'old');
  const found = [...new Set([...whileRunning, ...filesIn(at('data'))])].sort();
  const kindOf = (name: string): string | undefined => KINDS.find(([pattern]) => pattern.test(name))?.[1];
  expect(found.filter((name) => kindOf(name) === undefined)).toEqual([]);
  await backUp('data', 'backup');
  const expected = found.filter((name) => kindOf(name) === 'in the backup');
  expect(expected).toEqual([
    'databases/db-cold.sqlite-unloaded',
    'databases/db-gone.sqlite-forgotten',
    `databases/db-${DATABASE}.sqlite`,
    'members.sqlite',
    `schemas/${TEST_SCHEMA.hash}.json`,
  ]);
  expect(filesIn(at('backup'))).toEqual(
    [...expected.map((name) => name.replace('databases/', '')), 'manifest.json'].sort(),
  );
  await restore('backup', 'restored');
  const restored = filesIn(at('restored'));
  for (const name of expected) expect(restored).toContain(name);
});

it('a server restored from a backup serves clients of an older version of the app', async () => {
  for (const schema of [TEST_SCHEMA, NEWER]) await (await start('data', { schema })).stop();
  const kept = await start('data', { schema: NEWER, backup: { to: at('copies'), intervalMs: 5 } });
  await kept.open(undefined).catch(() => undefined);
  await copied(kept);
  await kept.stop();
  await backUp('data', 'backup');
  await restore('backup', 'restored');
  await runRestoreCommand(
    { flags: ['--from', at('copies'), '--data', at('one'), '--database', DATABASE], environment: {} },
    () => undefined,
  );
  for (const data of ['restored', 'one']) {
    const server = await start(data, { schema: NEWER });
    const old = await server.connect();
    old.hello(await server.token(), DATABASE, { schemaHash: TEST_SCHEMA.hash });
    expect(await old.next('welcome')).toMatchObject({ canWrite: true });
    await server.stop();
  }
});

it('a backup fails while the file of a database is being replaced, instead of leaving the database out', async () => {
  await (await start('data')).stop();
  writeFileSync(`${databasePath(at('data'), 'half')}-changing`, JSON.stringify({ kind: 'install', staged: 'x' }));
  await expect(backUp('data', 'backup')).rejects.toMatchObject({
    fields: { problems: expect.stringContaining('db-half.sqlite is not backed up: it is being replaced') as string },
  });
});

it('a backup contains what the server fetches meanwhile, and does not fail if it records a deletion', async () => {
  await (await start('data')).stop();
  const cold = databasePath(at('data'), 'cold');
  const mark = { destination: '/copies', generation: 'g', copies: 1, stateSum: '', sizeBytes: 1, watermark: 1 };
  writeFileSync(`${cold}-unloaded`, JSON.stringify(mark));
  writeFileSync(`${databasePath(at('data'), 'gone')}-forgotten`, '1');
  await runBackup({ flags: [at('backup'), '--data', at('data')], environment: {} }, (line) => {
    if (!line.includes('is unloaded to')) return;
    rmSync(`${cold}-unloaded`);
    rmSync(`${databasePath(at('data'), 'gone')}-forgotten`);
    openDatabaseFile(cold, TEST_SCHEMA, { databaseId: 'cold' }).sql.close();
  });
  expect(filesIn(at('backup')).filter((name) => name.startsWith('db-'))).toEqual(['db-cold.sqlite']);
  expect(Object.keys(readManifest(at('backup')))).toContain('db-cold.sqlite');
});

it('a restore writes no file that a backup cannot contain', async () => {
  mkdirSync(at('backup'));
  writeFileSync(at('backup', 'manifest.json'), JSON.stringify({ '../outside': 'x' }));
  await expect(restore('backup', 'restored')).rejects.toMatchObject({
    fields: { problems: '../outside in manifest.json is not a file of a backup' },
  });
});
