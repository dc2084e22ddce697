import type { Storage } from '@rockpool/vfs-opfs';
import { ReadInterrupted } from '../leader/read-interrupted.ts';
import { isSnapshotLost } from '../database/read-again.ts';
import { blobOf } from './blob-of.ts';
import { storageFailure } from './storage-failure.ts';

/**
 * Copies of an open database as plain SQLite files, made by the worker that has it open: on some media nobody else may
 * read it.
 */
export class Backups {
  private readonly storage: Pick<Storage, 'exportFile'>;
  private isClosed = false;

  constructor(storage: Pick<Storage, 'exportFile'>) {
    this.storage = storage;
  }

  /** All that is committed now. Rejects with ReadInterrupted when the storage is closed before the end. */
  make(): Promise<Blob> {
    return this.tryOnce().catch((thrown: unknown) => {
      // A forced checkpoint of the log took its snapshot away. The next one is of now.
      if (!isSnapshotLost(thrown)) throw thrown;
      return this.tryOnce();
    });
  }

  /** To be called before the storage is closed. */
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
