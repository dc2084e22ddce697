import { RockpoolError } from '@rockpool/shared';
import { openStorage, quarantineStorage, type Medium, type SqliteModule as StorageModule } from '@rockpool/vfs-opfs';
import { readUnsent, type Unsent } from '../changelog/unsent.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { storageFailure } from './storage-failure.ts';

/** A damaged database that is out of the way, and what it still said. */
export interface SetAside {
  /** The name that it is kept under. */
  readonly keptAs: string;
  readonly unsent: Unsent;
}

/**
 * Reads what a damaged database still says of writes that the server has not decided about, and moves the database out of the way, with all that it
 * is; nothing of it is deleted. Its name is free then. Throws `storage-busy` while somebody has it open.
 */
export async function setAside(name: string, medium: Medium, runtime: SqliteRuntime): Promise<SetAside> {
  const unsent = await salvage(name, medium, runtime);
  try {
    return { keptAs: await quarantineStorage(name, medium), unsent };
  } catch (thrown) {
    throw storageFailure(thrown);
  }
}

export function isCorrupt(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-corrupt';
}

async function salvage(name: string, medium: Medium, runtime: SqliteRuntime): Promise<Unsent> {
  try {
    const storage = await openStorage({ name, medium, role: 'writer' });
    try {
      storage.register(runtime.module as unknown as StorageModule);
      const connection = new Connection(runtime, { path: storage.path, vfsName: storage.vfsName, readOnly: true });
      try {
        return readUnsent(connection);
      } finally {
        connection.close();
      }
    } finally {
      await storage.close({ leavesLog: true });
    }
  } catch {
    // Its header or its schema is beyond reading.
    return { changesets: [], isComplete: false };
  }
}
