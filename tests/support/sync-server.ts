import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeSchema } from '../../packages/shared/src/index.ts';
import type { SyncServer } from '../../packages/sync-server/src/index.ts';
import { startForPages } from '../../packages/sync-server/testing/page-server.ts';

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
 * A real server in this process with real files, for pages of that origin which a test drives: one for each schema and
 * origin, for as long as the process lives. Gives a token for one database.
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
  // Whoever begins here takes what there is as a file, however little it is.
  return startForPages({
    dataDir,
    schema: decodeSchema(schemaJson),
    secret: SECRET,
    origins: [origin],
    log: () => undefined,
    snapshots: { minFileBytes: 1 },
  });
}
