import { join } from 'node:path';
import { expect } from 'vitest';
import { databasePath } from '../src/store/data-directory.ts';
import { SqliteFile } from '../src/sqlite/sqlite-file.ts';
import { insert } from './changeset.ts';
import { pushUntil } from './push-until.ts';
import { ServerProcess } from './server-process.ts';
import { TestConnection, TestSite } from './test-client.ts';
import { DATABASE } from './test-server.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

export interface KillPlan {
  readonly changesets: number;
  readonly kills: number;
}

/**
 * Repeatedly kills the server's process while a client pushes, and checks that in the end each changeset is stored
 * exactly once.
 */
export async function checkKilledServer({ changesets, kills }: KillPlan): Promise<void> {
  const folder = temporaryFolder();
  const site = new TestSite();
  for (let i = 1; i <= changesets; i++) site.write([insert('entries', `e${i}`, { amount: BigInt(i) })]);
  for (let kill = 1; kill <= kills; kill++) {
    const server = await ServerProcess.start(folder);
    const connection = await TestConnection.connect(server.url, site);
    const acknowledged = site.lastAckedSequence;
    const { welcome } = await connection.open(await server.token(), DATABASE);
    expect(welcome.lastAckedSequence).toBeGreaterThanOrEqual(acknowledged);
    await pushUntil(connection, Math.floor((changesets * kill) / (kills + 1)));
    await server.signal('SIGKILL');
    await connection.closes();
    expect(site.lastAckedSequence).toBeLessThan(changesets);
  }
  const server = await ServerProcess.start(folder);
  const connection = await TestConnection.connect(server.url, site);
  await connection.open(await server.token(), DATABASE);
  await pushUntil(connection, changesets);
  expect(await server.signal('SIGTERM')).toMatchObject({ code: 0 });
  const file = new SqliteFile(databasePath(join(folder, 'data'), DATABASE));
  expect(file.all('SELECT count(*), sum(amount) FROM entries')).toEqual([
    [BigInt(changesets), BigInt((changesets * (changesets + 1)) / 2)],
  ]);
  expect(
    file.all('SELECT count(*), count(DISTINCT sequence), min(watermark), max(watermark) FROM rockpool_log'),
  ).toEqual([[BigInt(changesets), BigInt(changesets), 1n, BigInt(changesets)]]);
  expect(file.all('PRAGMA integrity_check')).toEqual([['ok']]);
  file.close();
}
