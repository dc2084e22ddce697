import { RockpoolError } from '@rockpool/shared';
import type { Medium, openStorage, quarantineStorage, SqliteModule as StorageModule } from '@rockpool/vfs-opfs';
import { readUnsent, type Unsent, type UnsentCode } from '../changelog/unsent.ts';
import type { Meta } from '../file/meta.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import type { storageFailure } from './storage-failure.ts';

/** Code of the worker's main script; see RehearsedCode. */
export interface QuarantineCode extends UnsentCode {
  readonly Connection: typeof Connection;
  readonly Meta: typeof Meta;
  readonly openStorage: typeof openStorage;
  readonly quarantineStorage: typeof quarantineStorage;
  readonly storageFailure: typeof storageFailure;
}

/** A quarantined database, and the part of it that could still be read. */
export interface QuarantinedDatabase {
  /** The name of the quarantined database. */
  readonly keptAs: string;
  readonly unsent: Unsent;
  /** Identity of the server database that it belongs to; null if it belongs to none or the identity cannot be read. */
  readonly databaseIdentity: Uint8Array | null;
}

/** The user that opens the database, and the server database for which it is opened. */
export interface Opener {
  readonly principal: string | null;
  readonly databaseId: string | null;
}

/**
 * Reads the undecided writes of a damaged database that are still readable, then renames the database with everything
 * in it. Nothing is deleted, and its name is free afterwards. Throws `storage-busy` while the database is open, and, as
 * for an intact database, `other-principal` when a different user may have unsent writes in it and `database-mismatch`
 * when it belongs to a different server database. The database is then not renamed.
 */
export async function quarantine(
  name: string,
  medium: Medium,
  runtime: SqliteRuntime,
  { principal, databaseId }: Opener,
  code: QuarantineCode,
): Promise<QuarantinedDatabase> {
  const {
    unsent,
    principal: known,
    databaseId: belongsTo,
    databaseIdentity,
  } = await salvage(name, medium, runtime, code);
  if (databaseId !== null && belongsTo !== null && belongsTo !== databaseId)
    throw new RockpoolError('database-mismatch', { belongsTo, asked: databaseId });
  const mayHaveUnsent = unsent.changesets.length > 0 || !unsent.isComplete;
  if (mayHaveUnsent && principal !== null && known !== null && known !== principal)
    throw new RockpoolError('other-principal', { pendingCount: unsent.changesets.length });
  try {
    return { keptAs: await code.quarantineStorage(name, medium), unsent, databaseIdentity };
  } catch (thrown) {
    throw code.storageFailure(thrown);
  }
}

interface Salvaged {
  readonly unsent: Unsent;
  /** The owner; null if there is none or it cannot be read. */
  readonly principal: string | null;
  readonly databaseId: string | null;
  readonly databaseIdentity: Uint8Array | null;
}

async function salvage(name: string, medium: Medium, runtime: SqliteRuntime, code: QuarantineCode): Promise<Salvaged> {
  try {
    const storage = await code.openStorage({ name, medium, role: 'writer' });
    try {
      storage.register(runtime.module as unknown as StorageModule);
      const { path, vfsName } = storage;
      const connection = new code.Connection(runtime, { path, vfsName, readOnly: true });
      try {
        const meta = new code.Meta(connection);
        return { unsent: readUnsent(connection, readSiteId(meta), code), ...readOwner(meta) };
      } finally {
        connection.close();
      }
    } finally {
      await storage.close({ leavesLog: true });
    }
  } catch {
    // The header or the schema of the file cannot be read.
    return { unsent: { changesets: [], isComplete: false }, ...NO_OWNER };
  }
}

function readSiteId(meta: Meta): Uint8Array | null {
  try {
    return meta.siteId;
  } catch {
    return null;
  }
}

const NO_OWNER: Omit<Salvaged, 'unsent'> = { principal: null, databaseId: null, databaseIdentity: null };

function readOwner(meta: Meta): Omit<Salvaged, 'unsent'> {
  try {
    return {
      principal: (meta.get('principal') ?? null) as string | null,
      databaseId: meta.databaseId,
      databaseIdentity: meta.databaseIdentity,
    };
  } catch {
    return NO_OWNER;
  }
}
