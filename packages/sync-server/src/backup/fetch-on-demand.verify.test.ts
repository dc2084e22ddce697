import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { until } from '../../../../tests/kit/until.ts';
import { copied } from '../../testing/backup-state.ts';
import { insert } from '../../testing/changeset.ts';
import { databaseRows } from '../../testing/database-rows.ts';
import { serverFlags, ServerProcess } from '../../testing/server-process.ts';
import { SlowBucket } from '../../testing/slow-bucket.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { databasePath } from '../store/data-directory.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'a secret key' };
const COMMITS = 6;

const accountsIn = (path: string): unknown => (databaseRows(path) as { readonly accounts: unknown }).accounts;

/** A folder with a database that only a bucket has, in several objects, and the rows of that database. */
async function unloadedToBucket(): Promise<{ folder: string; bucket: SlowBucket; flags: string[]; rows: unknown }> {
  const folder = temporaryFolder();
  const bucket = await SlowBucket.start();
  onTestFinished(() => bucket.stop());
  const to = ['--backup-to', 's3://copies/of', '--backup-endpoint', bucket.url, '--backup-path-style'];
  const flags = [...serverFlags(folder), ...to, '--backup-interval', '1s'];
  for (const [name, value] of Object.entries(KEYS)) process.env[name] = value;
  const backup = { to: 's3://copies/of', endpoint: bucket.url, pathStyle: true, intervalMs: 5 };
  const server = await TestServer.start(join(folder, 'data'), { backup });
  const connection = await server.open();
  for (let i = 0; i < COMMITS; i++) {
    await connection.commit([insert('accounts', `a${i}`, { name: `${i}`.repeat(1_000) })]);
    await copied(server);
  }
  await server.stop();
  const path = databasePath(join(folder, 'data'), DATABASE);
  const rows = accountsIn(path);
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  const cold = await TestServer.start(join(folder, 'data'), { backup: { ...backup, unloadAfterMs: 1 } });
  await cold.logged('database-unloaded');
  await cold.stop();
  bucket.reads.length = 0;
  return { folder, bucket, flags, rows };
}

it('a database is fetched once while requests wait, and none of them sees an empty one', async () => {
  const { folder, bucket, flags, rows } = await unloadedToBucket();
  const server = await ServerProcess.start(folder, flags, KEYS);
  bucket.hold();
  const token = await server.token();
  const waiting = await Promise.all(
    [1, 2, 3].map(async () => {
      const connection = await server.connect();
      connection.hello(token, DATABASE);
      return connection;
    }),
  );
  await until(() => bucket.held > 0);
  // Another database is served meanwhile.
  const other = await server.connect();
  await other.open(await server.token('editor', 'ann', 'other'), 'other');
  expect(waiting.map(({ closed }) => closed)).toEqual([null, null, null]);
  bucket.release();
  for (const connection of waiting) expect(await connection.next('welcome')).toMatchObject({ watermark: COMMITS });
  expect(new Set(bucket.reads).size).toBe(bucket.reads.length);
  await server.signal('SIGTERM');
  expect(accountsIn(databasePath(join(folder, 'data'), DATABASE))).toEqual(rows);
});

it('a fetch that SIGKILL interrupted continues after the last object that it wrote', async () => {
  const { folder, bucket, flags, rows } = await unloadedToBucket();
  const killed = await ServerProcess.start(folder, flags, KEYS);
  // The first object has the whole file, and each of the others the pages of one commit.
  const isOfLaterCommit = (key: string): boolean => Number(/\/0-(\d+)-/.exec(key)?.[1] ?? 0) > 2;
  bucket.hold(isOfLaterCommit);
  const connection = await killed.connect();
  connection.hello(await killed.token(), DATABASE);
  const progress = join(folder, 'data', 'fetching', 'db-household.sqlite.progress');
  await until(() => {
    try {
      const { key } = JSON.parse(readFileSync(progress, 'utf8')) as { readonly key: string };
      return key.includes('/0-0000000002-');
    } catch {
      return false;
    }
  });
  await killed.signal('SIGKILL');
  bucket.release();
  const written = bucket.reads.filter((key) => !isOfLaterCommit(key));
  expect(written).toHaveLength(3);
  bucket.reads.length = 0;
  const server = await ServerProcess.start(folder, flags, KEYS);
  const again = await server.connect();
  again.hello(await server.token(), DATABASE);
  expect(await again.next('welcome')).toMatchObject({ watermark: COMMITS });
  expect(bucket.reads.filter((key) => written.includes(key))).toEqual([]);
  expect(bucket.reads.length).toBeGreaterThan(0);
  await server.signal('SIGTERM');
  expect(accountsIn(databasePath(join(folder, 'data'), DATABASE))).toEqual(rows);
});
