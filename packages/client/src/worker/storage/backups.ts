import type { Storage } from '@rockpool/vfs-opfs';
import { ReadInterrupted } from '../leader/opened-database.ts';
import { isSnapshotLost } from '../database/lost-snapshot.ts';
import { storageFailure } from './storage-failure.ts';

/**
 * Copies an open database as a plain SQLite file, in the worker that has it open: on some media no other worker may
 * read it.
 */
export class Backups {
  private readonly storage: Pick<Storage, 'exportFile'>;
  private isClosed = false;

  constructor(storage: Pick<Storage, 'exportFile'>) {
    this.storage = storage;
  }

  /** Copies everything committed now. Rejects with ReadInterrupted when the storage is closed before the end. */
  make(): Promise<Blob> {
    return this.tryOnce().catch((thrown: unknown) => {
      // A forced WAL checkpoint invalidated the snapshot. The second attempt reads a current one.
      if (!isSnapshotLost(thrown)) throw thrown;
      return this.tryOnce();
    });
  }

  /** Call it before the storage is closed. */
  close(): void {
    this.isClosed = true;
  }

  private async tryOnce(): Promise<Blob> {
    try {
      return await blobOf(await this.storage.exportFile());
    } catch (thrown) {
      throw this.isClosed ? new ReadInterrupted() : storageFailure(thrown);
    }
  }
}

/**
 * Collects a stream in one Blob; rejects with the stream's error. Each chunk goes to the browser at once, so that a
 * large file need not fit in this worker's memory.
 */
export async function blobOf(stream: ReadableStream<Uint8Array>): Promise<Blob> {
  const parts: Blob[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read())
    parts.push(new Blob([next.value as Uint8Array<ArrayBuffer>]));
  return new Blob(parts);
}
