import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeSchema } from '#shared/index.ts';
import type { SyncServer } from '#sync-server/index.ts';
import { startForPages } from '#sync-server/testing/page-server.ts';

export interface SyncAccess {
  readonly url: string;
  readonly token: string;
}

interface Running {
  readonly sync: SyncServer;
  readonly url: string;
}

const SECRET = 'a secret of tests only, 0123456789abcdef';
const runningByUse = new Map<string, Promise<Running>>();

/**
 * Starts a real server with real files in this process, one per schema and origin, for pages that a test drives. Lives
 * as long as the process. Returns a token for one database.
 */
export async function accessToSyncServer(
  schemaJson: string,
  databaseId: string,
  origin: string,
  principal: string = 'ann',
): Promise<SyncAccess> {
  const use = `${origin} ${schemaJson}`;
  const starting = runningByUse.get(use) ?? start(schemaJson, origin);
  runningByUse.set(use, starting);
  const { sync, url } = await starting;
  const token = await sync.issueToken({
    principal,
    name: `${principal} of the tests`,
    databases: [databaseId],
    ttlMs: 600_000,
  });
  return { url, token };
}

async function start(schemaJson: string, origin: string): Promise<Running> {
  const dataDir = mkdtempSync(join(tmpdir(), 'rockpool-test-server-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  // A new device downloads a snapshot file, however small.
  return startForPages({
    dataDir,
    schema: decodeSchema(schemaJson),
    secret: SECRET,
    origins: [origin],
    log: () => undefined,
    snapshots: { minFileBytes: 1 },
  });
}
