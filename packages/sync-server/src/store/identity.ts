import { createHash, randomBytes } from 'node:crypto';
import { ID_BYTES, RockpoolError } from '@rockpool/shared';
import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/*
 * The identity of a database: 16 bytes that every client binds its local database to. It is issued with the database,
 * stored in it, and belongs to one database id. A backup that is restored under the same id keeps it; a copy under
 * another id is another database and gets one of its own.
 */

export function newIdentity(): Uint8Array {
  return new Uint8Array(randomBytes(ID_BYTES));
}

export function identityOf(sql: SqliteFile): Uint8Array {
  return readMeta(sql, 'identity') as Uint8Array;
}

/**
 * The database id that the identity belongs to; null in a file that was written before identities, until a server has
 * opened it.
 */
export function identityOwner(sql: SqliteFile): string | null {
  return (readMeta(sql, 'identity_of') ?? null) as string | null;
}

/**
 * The links of the log up to here do not show that a client knows this database: they are also in the database that it
 * was copied from.
 */
export function identityStart(sql: SqliteFile): number {
  return Number(readMeta(sql, 'identity_start') ?? 0);
}

export function isClaimed(sql: SqliteFile, databaseId: string): boolean {
  return readMeta(sql, 'identity') !== undefined && identityOwner(sql) === databaseId;
}

/**
 * Gives the database that is opened under this id its identity, unless it has one; inside a transaction. Throws
 * `database-unavailable` for a file that belongs to another id: somebody copied or renamed it by hand, and its clients
 * would take one database for the other.
 */
export function claimIdentity(sql: SqliteFile, databaseId: string): void {
  const owner = identityOwner(sql);
  if (owner === databaseId) return;
  if (owner !== null)
    throw new RockpoolError('database-unavailable', {
      problem: 'the file belongs to another database id; `rockpool-server doctor` says to which',
    });
  if (readMeta(sql, 'identity') === undefined) writeMeta(sql, 'identity', derivedIdentity(sql, databaseId));
  writeMeta(sql, 'identity_of', databaseId);
}

/**
 * The same for a copy that is put in its place: under another id it is another database. Returns whether it is; inside
 * a transaction.
 */
export function claimCopy(sql: SqliteFile, databaseId: string, watermark: number): boolean {
  const owner = identityOwner(sql);
  if (owner === null || owner === databaseId) {
    claimIdentity(sql, databaseId);
    return false;
  }
  writeMeta(sql, 'identity', newIdentity());
  writeMeta(sql, 'identity_of', databaseId);
  writeMeta(sql, 'identity_start', String(watermark));
  return true;
}

/**
 * Of a database from before identities. Not random: clients bind to what the database gets at its first opening, and a
 * backup from before that has to get the same when it is restored. The first device that has ever written is in every
 * backup; where none has, the epoch stands in.
 */
function derivedIdentity(sql: SqliteFile, databaseId: string): Uint8Array {
  const [firstSite] = sql.get('SELECT site FROM rockpool_site WHERE number > 0 ORDER BY number LIMIT 1') ?? [];
  const seed = (firstSite ?? readMeta(sql, 'epoch')) as Uint8Array;
  const hash = createHash('sha256').update(`rockpool database identity\n${databaseId}\n`).update(seed);
  return new Uint8Array(hash.digest().subarray(0, ID_BYTES));
}
