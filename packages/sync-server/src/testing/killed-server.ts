import { join } from 'node:path';
import { expect } from 'vitest';
import { databasePath } from '../store/data-directory.ts';
import { SqliteFile } from '../store/sqlite-file.ts';
import { insert } from './changeset.ts';
import { ServerProcess } from './server-process.ts';
import { TestConnection, TestSite } from './test-client.ts';
import { DATABASE, temporaryFolder } from './test-server.ts';

// Small pushes, several on their way: the kill finds some decided and told, some decided, some half admitted, some unread.
const PUSH_SIZE = 5;
const PUSHES_ON_THEIR_WAY = 8;

/** Pushes what is undecided, a window at a time, until `enough` is decided. */
async function pushUntil(connection: TestConnection, enough: number, all: number): Promise<void> {
  const { site } = connection;
  let sent = site.decidedUpTo;
  while (site.decidedUpTo < enough) {
    while (sent < all && sent - site.decidedUpTo < PUSH_SIZE * PUSHES_ON_THEIR_WAY) {
      const to = Math.min(sent + PUSH_SIZE, all);
      connection.push(sent + 1, to);
      sent = to;
    }
    await connection.delivery();
  }
}

export interface KillPlan {
  readonly changesets: number;
  readonly kills: number;
}

/** Kills the server's process again and again while a client pushes, and checks that each changeset is there exactly once in the end. */
export async function checkKilledServer({ changesets, kills }: KillPlan): Promise<void> {
  const folder = temporaryFolder();
  const site = new TestSite();
  for (let i = 1; i <= changesets; i++) site.write([insert('entries', `e${i}`, { amount: BigInt(i) })]);
  for (let kill = 1; kill <= kills; kill++) {
    const server = await ServerProcess.start(folder.path);
    const connection = await TestConnection.connect(server.url, site);
    const acknowledged = site.decidedUpTo;
    const { welcome } = await connection.open(await server.token(), DATABASE);
    expect(welcome.decidedUpTo).toBeGreaterThanOrEqual(acknowledged);
    await pushUntil(connection, Math.floor((changesets * kill) / (kills + 1)), changesets);
    await server.signal('SIGKILL');
    await connection.closes();
    expect(site.decidedUpTo).toBeLessThan(changesets);
  }
  const server = await ServerProcess.start(folder.path);
  const connection = await TestConnection.connect(server.url, site);
  await connection.open(await server.token(), DATABASE);
  await pushUntil(connection, changesets, changesets);
  expect(await server.signal('SIGTERM')).toMatchObject({ code: 0 });
  const file = new SqliteFile(databasePath(join(folder.path, 'data'), DATABASE));
  expect(file.all('SELECT count(*), sum(amount) FROM entries')).toEqual([[BigInt(changesets), BigInt((changesets * (changesets + 1)) / 2)]]);
  expect(file.all('SELECT count(*), count(DISTINCT sequence), min(watermark), max(watermark) FROM rockpool_log')).toEqual([[BigInt(changesets), BigInt(changesets), 1n, BigInt(changesets)]]);
  expect(file.all('PRAGMA integrity_check')).toEqual([['ok']]);
  file.close();
  folder.remove();
}
