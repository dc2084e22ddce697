import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { until } from '../../../../tests/kit/until.ts';
import { ADMIN_TOKEN, askAdmin } from '../../testing/admin-client.ts';
import { copied } from '../../testing/backup-state.ts';
import { insert } from '../../testing/changeset.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import type { DatabaseBackups } from '../admin/database-backups.ts';
import type { SyncServerOptions } from '../sync-server.ts';
import { FolderDestination } from './folder-destination.ts';
import { copyKey, newGeneration, sourceOfFile } from './object-names.ts';
import { databaseFileName } from '../store/data-directory.ts';

async function start(options: Partial<SyncServerOptions> = {}): Promise<TestServer> {
  const server = await TestServer.start(join(temporaryFolder(), 'data'), { admin: { token: ADMIN_TOKEN }, ...options });
  onTestFinished(() => server.stop());
  return server;
}

const backupsOf = async (server: TestServer, query = ''): Promise<DatabaseBackups> =>
  (await askAdmin<DatabaseBackups>(server, 'GET', `/databases/${DATABASE}/backups${query}`)).body;

it('an operator lists the backups of a database, and adds one of them as another database', async () => {
  const place = join(temporaryFolder(), 'copies');
  const server = await start({ backup: { to: place, intervalMs: 5 } });
  const ann = await server.open();
  await ann.commit([insert('accounts', 'early', { name: 'early' })]);
  await copied(server);
  const copiedMs = Date.now();
  await until(() => Date.now() > copiedMs);
  await ann.commit([insert('accounts', 'late', { name: 'late' })]);
  await copied(server);
  const { destination, backups, total, totalBytes, next } = await backupsOf(server);
  const [newest, oldest] = [backups[0], backups.at(-1)];
  expect([destination, total, next]).toEqual([place, backups.length, null]);
  expect([newest?.isWhole, newest?.copies, oldest?.isWhole]).toEqual([false, 1, true]);
  expect(backups.map(({ timeMs }) => timeMs)).toEqual(backups.map(({ timeMs }) => timeMs).sort((a, b) => b - a));
  expect(totalBytes).toBe(backups.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  expect(oldest?.sizeBytes).toBeGreaterThan(newest?.sizeBytes ?? Infinity);
  const restore = (id: string, timeMs: number | undefined): ReturnType<typeof askAdmin> =>
    askAdmin(server, 'POST', `/databases/${id}/restore-backup?from=${DATABASE}&at=${timeMs}`);
  const before = backups.findLast(({ timeMs }) => timeMs <= copiedMs && timeMs < (newest?.timeMs ?? 0));
  expect(await restore('past', before?.timeMs)).toMatchObject({ status: 201, body: { timeMs: before?.timeMs } });
  expect(await restore('present', newest?.timeMs)).toMatchObject({ status: 201, body: { timeMs: newest?.timeMs } });
  const ids = (id: string): unknown => server.query('SELECT id FROM accounts ORDER BY id', id);
  expect([ids('past'), ids('present')]).toEqual([[['early']], [['early'], ['late']]]);
  expect((await server.open(undefined, { databaseId: 'past' })).closed).toBeNull();
  expect((await ann.commit([insert('accounts', 'more', { name: 'more' })])).kind).toBe('admitted');
  expect(await restore('past', newest?.timeMs)).toMatchObject({ status: 409 });
  expect(await restore('older', (oldest?.timeMs ?? 0) - 1)).toMatchObject({
    status: 400,
    body: { fields: { problem: 'the backup has no copy from that time' } },
  });
});

it('backups are listed a hundred at a time, newest first', async () => {
  const place = join(temporaryFolder(), 'copies');
  const server = await start({ backup: { to: place, intervalMs: 5 } });
  const folder = new FolderDestination(place);
  const name = { source: sourceOfFile(databaseFileName(DATABASE)), generation: newGeneration(1), part: 0, parts: 1 };
  for (let i = 0; i < 130; i++)
    await folder.put(
      copyKey({ ...name, level: i === 0 ? 'base' : 0, first: i, last: i, timeMs: 1_000 + i }),
      new Uint8Array(10),
    );
  // Neither is listed: an unfinished base cannot be restored, and a summary only repeats copies that are listed.
  await folder.put(
    copyKey({ ...name, generation: newGeneration(2), level: 'base', first: 0, last: 0, timeMs: 9_000, parts: 2 }),
    new Uint8Array(10),
  );
  await folder.put(copyKey({ ...name, level: 2, first: 1, last: 128, timeMs: 1_128 }), new Uint8Array(10));
  const first = await backupsOf(server);
  const second = await backupsOf(server, `?before=${first.next}`);
  expect([first.total, first.totalBytes, second.total, second.next]).toEqual([130, 1_300, 130, null]);
  const times = [...first.backups, ...second.backups].map(({ timeMs }) => timeMs);
  expect([first.backups.length, times]).toEqual([100, Array.from({ length: 130 }, (_, i) => 1_129 - i)]);
  for (const before of ['', 'null', '-1', '1.5'])
    expect(await askAdmin(server, 'GET', `/databases/${DATABASE}/backups?before=${before}`)).toMatchObject({
      status: 400,
      body: { code: 'request-invalid' },
    });
});

it('a server without a continuous backup lists none, and restores none', async () => {
  const server = await start();
  await server.open();
  expect(await backupsOf(server)).toEqual({ destination: null, backups: [], total: 0, totalBytes: 0, next: null });
  expect(await askAdmin(server, 'POST', `/databases/past/restore-backup?from=${DATABASE}&at=1`)).toMatchObject({
    status: 400,
    body: { code: 'request-invalid' },
  });
});
