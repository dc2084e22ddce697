import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';
import { runRestoreCommand } from '../src/cli/restore.ts';
import { databasePath } from '../src/store/data-directory.ts';
import { insert } from './changeset.ts';
import { databaseRows } from './database-rows.ts';
import type { KillPlan } from './killed-server.ts';
import { pushUntil } from './push-until.ts';
import { serverFlags, ServerProcess } from './server-process.ts';
import { TestConnection, TestSite } from './test-client.ts';
import { DATABASE } from './test-server.ts';

/**
 * Kills a server again and again while it copies what a client pushes. After each kill, what the destination has is a
 * restorable state. In the end, every state that was copied as a whole is restored and compared with the rows at that
 * time.
 */
export async function checkKilledBackup({ changesets, kills }: KillPlan): Promise<void> {
  const folder = temporaryFolder();
  const copies = join(folder, 'copies');
  const flags = [...serverFlags(folder), '--backup-to', copies, '--backup-interval', '1s', '--threads', '2'];
  const restore = async (name: string, ...more: string[]): Promise<object> => {
    const target = join(folder, name);
    const args = ['--from', copies, '--data', target, ...more];
    await runRestoreCommand({ flags: args, environment: {} }, () => undefined);
    return databaseRows(databasePath(target, DATABASE));
  };
  const site = new TestSite();
  for (let i = 1; i <= changesets; i++) site.write([insert('entries', `e${i}`, { amount: BigInt(i) })]);
  const states: { readonly atMs: number; readonly rows: object }[] = [];
  for (let kill = 1; kill <= kills; kill++) {
    const server = await ServerProcess.start(folder, flags);
    const connection = await TestConnection.connect(server.url, site);
    await connection.open(await server.token(), DATABASE);
    await pushUntil(connection, Math.floor((changesets * (kill - 0.5)) / kills));
    await copiedBy(server);
    states.push({ atMs: Date.now(), rows: databaseRows(databasePath(join(folder, 'data'), DATABASE)) });
    const pushing = pushUntil(connection, Math.floor((changesets * kill) / kills)).catch(() => undefined);
    await objectStored(server);
    await server.signal('SIGKILL');
    await connection.closes();
    await pushing;
    await restore(`after-${kill}`);
  }
  for (const [i, { atMs, rows }] of states.entries())
    expect(await restore(`state-${i}`, '--at', new Date(atMs).toISOString())).toEqual(rows);
}

const PENDING = 'rockpool_backup_pending_databases';
const OBJECTS = 'rockpool_backup_objects_total';

/** Resolves once everything is copied. The threads report once a second, so the second such report counts. */
export async function copiedBy(server: ServerProcess): Promise<void> {
  const lag = async (): Promise<number> => (await server.metrics()).get(PENDING) ?? 1;
  const reports = async (): Promise<number> => (await server.metrics()).get(OBJECTS) ?? 0;
  for (let before = -1; ;) {
    const objects = await reports();
    if ((await lag()) === 0 && objects > 0 && objects === before) return;
    before = (await lag()) === 0 ? objects : -1;
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  }
}

/** Resolves once another object is stored. */
async function objectStored(server: ServerProcess): Promise<void> {
  const before = (await server.metrics()).get(OBJECTS) ?? 0;
  while (((await server.metrics()).get(OBJECTS) ?? 0) === before)
    await new Promise((resolve) => setTimeout(resolve, 5));
}
