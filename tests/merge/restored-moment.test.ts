import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { testSchema } from '#client/testing/worker/test-database.ts';
import { runRestoreCommand } from '#sync-server/cli/restore.ts';
import { copied } from '#sync-server/testing/backup-state.ts';
import { TestServer } from '#sync-server/testing/test-server.ts';
import { SocketDevice } from '#kit/socket-device.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { until } from '#kit/until.ts';

it('a restore of the server to an earlier moment loses nothing that a device has', async () => {
  const folder = temporaryFolder();
  const start = async (data: string): Promise<TestServer> => {
    const started = await TestServer.start(join(folder, data), {
      schema: testSchema,
      backup: { to: join(folder, 'copies'), intervalMs: 5 },
    });
    onTestFinished(() => started.stop());
    return started;
  };
  let server = await start('data');
  const [ann, ben] = [1, 2].map(() => {
    const device = new SocketDevice({ server: () => server });
    onTestFinished(() => device.close());
    device.start();
    return device;
  }) as [SocketDevice, SocketDevice];
  const names = (device: SocketDevice): unknown[] => device.rows('SELECT id, name FROM account ORDER BY id');
  const settled = async (): Promise<void> => {
    await Promise.all([ann.upToDate(), ben.upToDate()]);
    await until(() => JSON.stringify(names(ann)) === JSON.stringify(names(ben)));
  };

  ann.write(`INSERT INTO account (id, name) VALUES ('a', 'first')`);
  await settled();
  await copied(server);
  const atMs = Date.now();
  await until(() => Date.now() > atMs);
  ann.write(`INSERT INTO account (id, name) VALUES ('b', 'of ann')`);
  ben.write(`INSERT INTO account (id, name) VALUES ('c', 'of ben')`);
  await settled();
  ben.write(`UPDATE account SET name = 'changed' WHERE id = 'a'`);
  await settled();
  await until(() => names(ann).length === 3);
  await copied(server);
  for (const device of [ann, ben]) device.stop();
  await server.stop();

  const flags = [
    '--from',
    join(folder, 'copies'),
    '--data',
    join(folder, 'then'),
    '--at',
    new Date(atMs).toISOString(),
  ];
  await runRestoreCommand({ flags, environment: {} }, () => undefined);
  server = await start('then');
  expect(server.query('SELECT id, name FROM account')).toEqual([['a', 'first']]);
  // Written while the server was down.
  ann.write(`INSERT INTO account (id, name) VALUES ('d', 'offline')`);
  for (const device of [ann, ben]) device.start();
  const all = [
    ['a', 'changed'],
    ['b', 'of ann'],
    ['c', 'of ben'],
    ['d', 'offline'],
  ];
  for (const device of [ann, ben]) await until(() => JSON.stringify(names(device)) === JSON.stringify(all));
  await until(() => server.query('SELECT id FROM account').length === all.length);
  expect(server.query('SELECT id, name FROM account ORDER BY id')).toEqual(all);
  // A write from the older log counts as having seen no value of another site [MR-47].
  const conflicts = ann.rows('SELECT lost_value, won_value FROM rockpool_conflict');
  expect(conflicts.filter(([lost, won]) => lost !== 'first' || won !== 'changed')).toEqual([]);
  expect(conflicts.length).toBeLessThanOrEqual(1);
});
