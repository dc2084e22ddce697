import { RockpoolError } from '@rockpool/shared';
import { openStorage, quarantineStorage, type Medium, type SqliteModule as StorageModule } from '@rockpool/vfs-opfs';
import { readUnsent, type Unsent } from '../changelog/unsent.ts';
import { Meta } from '../database/meta.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { storageFailure } from './storage-failure.ts';

/** A damaged database that is out of the way, and what it still said. */
export interface QuarantinedDatabase {
  /** The name that it is kept under. */
  readonly keptAs: string;
  readonly unsent: Unsent;
  /** Of the server database that it belongs to; null where it belongs to none, or cannot be read. */
  readonly databaseIdentity: Uint8Array | null;
}

/** Who opens it, and for which server database. */
export interface Opener {
  readonly principal: string | null;
  readonly databaseId: string | null;
}

/**
 * Reads what a damaged database still says of writes that the server has not decided about, and moves the database out
 * of the way, with all that it is; nothing of it is deleted. Its name is free then. Throws `storage-busy` while
 * somebody has it open, and as a sound database does `other-principal` where another person may have something to send
 * in it, and `database-mismatch` where it belongs to another server database: it stays where it is then.
 */
export async function quarantine(
  name: string,
  medium: Medium,
  runtime: SqliteRuntime,
  { principal, databaseId }: Opener,
): Promise<QuarantinedDatabase> {
  const { unsent, principal: known, databaseId: belongsTo, databaseIdentity } = await salvage(name, medium, runtime);
  if (databaseId !== null && belongsTo !== null && belongsTo !== databaseId)
    throw new RockpoolError('database-mismatch', { belongsTo, asked: databaseId });
  const mayHaveUnsent = unsent.changesets.length > 0 || !unsent.isComplete;
  if (mayHaveUnsent && principal !== null && known !== null && known !== principal)
    throw new RockpoolError('other-principal', { pendingCount: unsent.changesets.length });
  try {
    return { keptAs: await quarantineStorage(name, medium), unsent, databaseIdentity };
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
  readonly databaseId: string | null;
  readonly databaseIdentity: Uint8Array | null;
}

async function salvage(name: string, medium: Medium, runtime: SqliteRuntime): Promise<Salvaged> {
  try {
    const storage = await openStorage({ name, medium, role: 'writer' });
    try {
      storage.register(runtime.module as unknown as StorageModule);
      const connection = new Connection(runtime, { path: storage.path, vfsName: storage.vfsName, readOnly: true });
      try {
        return { unsent: readUnsent(connection), ...readOwner(connection) };
      } finally {
        connection.close();
      }
    } finally {
      await storage.close({ leavesLog: true });
    }
  } catch {
    // Its header or its schema is beyond reading.
    return { unsent: { changesets: [], isComplete: false }, ...NO_OWNER };
  }
}

const NO_OWNER: Omit<Salvaged, 'unsent'> = { principal: null, databaseId: null, databaseIdentity: null };

function readOwner(connection: Connection): Omit<Salvaged, 'unsent'> {
  try {
    const meta = new Meta(connection);
    return {
      principal: (meta.get('principal') ?? null) as string | null,
      databaseId: meta.databaseId,
      databaseIdentity: meta.databaseIdentity,
    };
  } catch {
    return NO_OWNER;
  }
}
