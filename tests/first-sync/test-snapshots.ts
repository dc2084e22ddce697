import type { SnapshotPosition } from '#shared/index.ts';
import type { Medium } from '#vfs-opfs/index.ts';
import { downloadContent } from '#client/worker/first-sync/download-content.ts';
import type { DownloadTimeouts } from '#client/worker/first-sync/download-snapshot.ts';
import { snapshotSource } from '#client/worker/first-sync/snapshot-source.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import type { SnapshotSource } from '#client/worker/sync/snapshot-taking.ts';
import { STORED_NAME, testRuntime } from '#client/testing/worker/test-database.ts';
import { DATABASE, type TestServer } from '#sync-server/testing/test-server.ts';

/** A `fetch` that waits until a snapshot is built, instead of receiving the response that it is not built yet. */
export const fetchBuilt: typeof fetch = (input, init) => fetch((input as string).replace(/&waitMs=\d+/, ''), init);

/** On a busy machine a server may take longer to respond than a device would wait. */
const PATIENT: DownloadTimeouts = { tokenMs: 60_000, firstByteMs: 60_000, nextBytesMs: 60_000, builtMs: 60_000 };

export interface TestSnapshotOptions {
  /** Read for each request: a restarted server has a different port. */
  readonly server: () => TestServer;
  /** Default: a valid one. */
  readonly token?: () => Promise<string>;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch;
  /** The position claimed for each downloaded file. Default: its own. */
  readonly held?: () => SnapshotPosition;
  /** Default: long, so that a busy machine changes nothing. */
  readonly timeouts?: DownloadTimeouts;
}

/** The snapshots that a device downloads for its stored database. One source for all attempts, as in a worker. */
export function testSnapshots(
  database: OpenDatabase,
  medium: Medium,
  { server, token = () => server().token(), fetch: get = fetch, held, timeouts = PATIENT }: TestSnapshotOptions,
): SnapshotSource {
  const source = snapshotSource({
    name: STORED_NAME,
    medium,
    schema: database.appSchema,
    runtime: testRuntime,
    download: downloadContent({
      url: `ws://${server().host}`,
      databaseId: DATABASE,
      schemaHash: database.appSchema.hash,
      token,
      timeouts,
      fetch: (input, init) => get((input as string).replace(/^http:..[^/]+/, `http://${server().host}`), init),
    }),
    databaseIdentity: () => database.meta.databaseIdentity,
  });
  if (held === undefined) return source;
  return {
    ...source,
    take: async (...given) => ({ path: '', ...(await source.take(...given)), position: held() }),
  };
}
