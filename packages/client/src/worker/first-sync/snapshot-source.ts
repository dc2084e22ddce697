import { cellValuesEqual, RockpoolError, type Schema } from '@rockpool/shared';
import {
  discardStaged,
  stageFile,
  type Medium,
  type SqliteModule as StorageModule,
  type StagedFile,
} from '@rockpool/vfs-opfs';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { SnapshotFile } from '../apply/snapshot-file.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { storageFailure } from '../storage/storage-failure.ts';
import type { SnapshotEvents, SnapshotSource } from '../sync/snapshot-taking.ts';
import { STORE_TIMEOUT_MS } from '../sync/snapshot-wait.ts';
import { readSnapshotFacts } from './snapshot-facts.ts';
import { reportStored } from './stored-progress.ts';

/** The uncompressed content of a snapshot's file. */
export interface SnapshotContent {
  readonly source: ReadableStream<Uint8Array>;
  readonly sizeBytes: number;
}

/** Returns null when there is no snapshot. Throws the errors of SnapshotSource. */
export type DownloadContent = (events: SnapshotEvents, signal: AbortSignal) => Promise<SnapshotContent | null>;

export interface SnapshotSourceOptions {
  readonly name: string;
  readonly medium: Medium;
  readonly schema: Schema;
  readonly runtime: SqliteRuntime;
  readonly download: DownloadContent;
  /** Identity of the server database that the local one belongs to; null if it is not known yet. */
  readonly databaseIdentity: () => Uint8Array | null;
}

/**
 * Provides the server's snapshots for a database in use. Each is staged as a file beside the database, one at a time.
 */
export function snapshotSource({
  name,
  medium,
  schema,
  runtime,
  download,
  databaseIdentity,
}: SnapshotSourceOptions): SnapshotSource {
  let staged: StagedFile | null = null;
  // Removes the file of a worker that was killed after applying it, because the next snapshot may come much later.
  let last: Promise<unknown> = discardStaged({ name, medium }).catch(() => undefined);

  function inTurn<T>(job: () => Promise<T>): Promise<T> {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  }

  async function remove(): Promise<void> {
    const old = staged;
    staged = null;
    // A file that cannot be removed now does no harm, because the next one overwrites it.
    await old?.remove().catch(() => undefined);
  }

  async function stage(content: SnapshotContent): Promise<SnapshotFile> {
    staged = await stageFile({ name, medium, ...content });
    const { storage } = staged;
    storage.register(runtime.module as unknown as StorageModule);
    const connection = new Connection(runtime, { path: storage.path, vfsName: storage.vfsName });
    try {
      const { logEpoch, watermark, logHash, databaseIdentity: identity } = readSnapshotFacts(connection, schema);
      const known = databaseIdentity();
      if (known !== null && !cellValuesEqual(identity, known))
        throw new RockpoolError('database-mismatch', {
          problem: 'the snapshot belongs to a different server database',
        });
      return { position: { logEpoch, watermark, logHash }, path: storage.path };
    } finally {
      connection.close();
    }
  }

  async function take(events: SnapshotEvents, signal: AbortSignal): Promise<SnapshotFile | null> {
    await remove();
    let latest: SnapshotProgress | null = null;
    const onProgress = (progress: SnapshotProgress): void => {
      latest = progress;
      events.onProgress(progress);
    };
    const content = await download({ ...events, onProgress }, signal);
    if (content === null) return null;
    const onStored = (): void => {
      if (latest !== null) events.onProgress(latest);
      events.onWait({ stage: 'snapshot-store', withinMs: STORE_TIMEOUT_MS });
    };
    onStored();
    try {
      return await stage({ ...content, source: content.source.pipeThrough(reportStored(onStored)) });
    } catch (thrown) {
      await remove();
      throw thrown instanceof RockpoolError ? thrown : storageFailure(thrown);
    }
  }

  return { take: (events, signal) => inTurn(() => take(events, signal)), discard: () => inTurn(remove) };
}
