import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { databasePath } from '../store/data-directory.ts';
import { SqliteFile } from '../store/sqlite-file.ts';
import { insert } from '../testing/changeset.ts';
import { ServerProcess } from '../testing/server-process.ts';
import { TestConnection, TestSite } from '../testing/test-client.ts';
import { DATABASE, temporaryFolder } from '../testing/test-server.ts';

const CHANGESETS = 2_000;
const KILLS = 5;
// Small pushes, several on their way: the kill finds some decided and told, some decided, some half admitted, some unread.
const PUSH_SIZE = 5;
const PUSHES_ON_THEIR_WAY = 8;

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Pushes what is undecided, a window at a time, until `enough` is decided. */
async function pushUntil(connection: TestConnection, enough: number): Promise<void> {
  const { site } = connection;
  let sent = site.decidedUpTo;
  while (site.decidedUpTo < enough) {
    while (sent < CHANGESETS && sent - site.decidedUpTo < PUSH_SIZE * PUSHES_ON_THEIR_WAY) {
      const to = Math.min(sent + PUSH_SIZE, CHANGESETS);
      connection.push(sent + 1, to);
      sent = to;
    }
    await connection.delivery();
  }
}

describe('a server that is killed while it admits', () => {
  it('has every acknowledged changeset after restart, each exactly once', { timeout: 120_000 }, async () => {
    const site = new TestSite();
    for (let i = 1; i <= CHANGESETS; i++) site.write([insert('entries', `e${i}`, { amount: BigInt(i) })]);
    for (let kill = 1; kill <= KILLS; kill++) {
      const server = await ServerProcess.start(folder.path);
      const connection = await TestConnection.connect(server.url, site);
      const acknowledged = site.decidedUpTo;
      const { welcome } = await connection.open(await server.token(), DATABASE);
      expect(welcome.decidedUpTo).toBeGreaterThanOrEqual(acknowledged);
      await pushUntil(connection, Math.floor((CHANGESETS * kill) / (KILLS + 1)));
      await server.signal('SIGKILL');
      await connection.closes();
      expect(site.decidedUpTo).toBeLessThan(CHANGESETS);
    }
    const server = await ServerProcess.start(folder.path);
    const connection = await TestConnection.connect(server.url, site);
    await connection.open(await server.token(), DATABASE);
    await pushUntil(connection, CHANGESETS);
    expect(await server.signal('SIGTERM')).toMatchObject({ code: 0 });
    const file = new SqliteFile(databasePath(join(folder.path, 'data'), DATABASE));
    expect(file.all('SELECT count(*), sum(amount) FROM entries')).toEqual([[BigInt(CHANGESETS), BigInt((CHANGESETS * (CHANGESETS + 1)) / 2)]]);
    expect(file.all('SELECT count(*), count(DISTINCT sequence), min(watermark), max(watermark) FROM rockpool_log')).toEqual([[BigInt(CHANGESETS), BigInt(CHANGESETS), 1n, BigInt(CHANGESETS)]]);
    expect(file.all('PRAGMA integrity_check')).toEqual([['ok']]);
    file.close();
  });
});
