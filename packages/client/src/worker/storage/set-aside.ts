import { RockpoolError } from '@rockpool/shared';
import { openStorage, quarantineStorage, type Medium, type SqliteModule as StorageModule } from '@rockpool/vfs-opfs';
import { readUnsent, type Unsent } from '../changelog/unsent.ts';
import { Meta } from '../database/meta.ts';
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
 * is; nothing of it is deleted. Its name is free then. Throws `storage-busy` while somebody has it open, and `other-principal` where another person
 * may have something to send in it, as a sound database does: it stays where it is, for that person.
 */
export async function setAside(name: string, medium: Medium, runtime: SqliteRuntime, principal: string | null): Promise<SetAside> {
  const { unsent, principal: known } = await salvage(name, medium, runtime);
  const mayBeOwed = unsent.changesets.length > 0 || !unsent.isComplete;
  if (mayBeOwed && principal !== null && known !== null && known !== principal) throw new RockpoolError('other-principal', { pendingCount: unsent.changesets.length });
  try {
    return { keptAs: await quarantineStorage(name, medium), unsent };
  } catch (thrown) {
    throw storageFailure(thrown);
  }
}

export function isCorrupt(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-corrupt';
}

interface Salvaged {
  readonly unsent: Unsent;
  /** Whose it is; null where that is nobody, or cannot be read. */
  readonly principal: string | null;
}

async function salvage(name: string, medium: Medium, runtime: SqliteRuntime): Promise<Salvaged> {
  try {
    const storage = await openStorage({ name, medium, role: 'writer' });
    try {
      storage.register(runtime.module as unknown as StorageModule);
      const connection = new Connection(runtime, { path: storage.path, vfsName: storage.vfsName, readOnly: true });
      try {
        return { unsent: readUnsent(connection), principal: readPrincipal(connection) };
      } finally {
        connection.close();
      }
    } finally {
      await storage.close({ leavesLog: true });
    }
  } catch {
    // Its header or its schema is beyond reading.
    return { unsent: { changesets: [], isComplete: false }, principal: null };
  }
}

function readPrincipal(connection: Connection): string | null {
  try {
    return (new Meta(connection).get('principal') ?? null) as string | null;
  } catch {
    return null;
  }
}
