import { RockpoolError, type Schema } from '@rockpool/shared';
import { stageFile, type Medium, type SqliteModule as StorageModule, type StagedFile } from '@rockpool/vfs-opfs';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { SnapshotFile } from '../apply/apply-delivery.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { storageFailure } from '../storage/storage-failure.ts';
import type { SnapshotSource } from '../sync/snapshot-taking.ts';
import { readSnapshotFacts } from './snapshot-facts.ts';

/** A snapshot's file as it comes, unpacked. */
export interface SnapshotContent {
  readonly source: ReadableStream<Uint8Array>;
  readonly sizeBytes: number;
}

/** Null: there is none to be had. */
export type DownloadContent = (onProgress: (progress: SnapshotProgress) => void, signal: AbortSignal) => Promise<SnapshotContent | null>;

export interface SnapshotSourceOptions {
  readonly name: string;
  readonly medium: Medium;
  readonly schema: Schema;
  readonly runtime: SqliteRuntime;
  readonly download: DownloadContent;
}

/** A file that came is still to be unpacked and stored, which on a slow device takes longer than the patience with a silent server: so much of it counts as progress. */
const STORED_AT_ONCE_BYTES = 1024 * 1024;

/** The server's snapshots for a database that is in use: each is put beside it, as a file to read from. One at a time. */
export function snapshotSource({ name, medium, schema, runtime, download }: SnapshotSourceOptions): SnapshotSource {
  let staged: StagedFile | null = null;
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<T>(job: () => Promise<T>): Promise<T> {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  }

  async function remove(): Promise<void> {
    const old = staged;
    staged = null;
    // A file that cannot be taken away now is in nobody's way: the next one is written over it.
    await old?.remove().catch(() => undefined);
  }

  async function stage(content: SnapshotContent): Promise<SnapshotFile> {
    staged = await stageFile({ name, medium, ...content });
    const { storage } = staged;
    storage.register(runtime.module as unknown as StorageModule);
    const connection = new Connection(runtime, { path: storage.path, vfsName: storage.vfsName });
    try {
      return { position: readSnapshotFacts(connection, schema), path: storage.path };
    } finally {
      connection.close();
    }
  }

  async function take(onProgress: (progress: SnapshotProgress) => void, signal: AbortSignal): Promise<SnapshotFile | null> {
    await remove();
    let latest: SnapshotProgress | null = null;
    const content = await download((progress) => {
      latest = progress;
      onProgress(progress);
    }, signal);
    if (content === null) return null;
    const onStored = (): void => void (latest !== null && onProgress(latest));
    try {
      return await stage({ ...content, source: content.source.pipeThrough(telling(onStored)) });
    } catch (thrown) {
      await remove();
      throw thrown instanceof RockpoolError ? thrown : storageFailure(thrown);
    }
  }

  return { take: (onProgress, signal) => inTurn(() => take(onProgress, signal)), discard: () => inTurn(remove) };
}

/** Passes a stream on, and tells of each so many bytes of it. */
function telling(tell: () => void): TransformStream<Uint8Array, Uint8Array> {
  let untoldBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      untoldBytes += chunk.length;
      if (untoldBytes >= STORED_AT_ONCE_BYTES) {
        untoldBytes = 0;
        tell();
      }
      controller.enqueue(chunk);
    },
  });
}
