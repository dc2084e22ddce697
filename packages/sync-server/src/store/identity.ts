import { createHash, randomBytes } from 'node:crypto';
import { ID_BYTES, RockpoolError } from '@rockpool/shared';
import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/*
 * The identity of a database: 16 bytes to which every client binds its local database. It is issued when the database
 * is created, stored in the file, and belongs to one database id. A backup that is restored under the same id keeps the
 * identity; a copy under a different id is a separate database and gets a new identity.
 */

export function newIdentity(): Uint8Array {
  return new Uint8Array(randomBytes(ID_BYTES));
}

export function identityOf(sql: SqliteFile): Uint8Array {
  return readMeta(sql, 'identity') as Uint8Array;
}

/** The database id to which the identity belongs. Null in a file without an identity, until a server opens it. */
export function identityOwner(sql: SqliteFile): string | null {
  return (readMeta(sql, 'identity_of') ?? null) as string | null;
}

/**
 * The watermark up to which the log was copied from another database. Up to it, an equal log hash does not prove that a
 * client belongs to this database.
 */
export function identityStart(sql: SqliteFile): number {
  return Number(readMeta(sql, 'identity_start') ?? 0);
}

export function isClaimed(sql: SqliteFile, databaseId: string): boolean {
  return readMeta(sql, 'identity') !== undefined && identityOwner(sql) === databaseId;
}

/**
 * Assigns the identity of a database to `databaseId`, issuing one if the file has none. Call inside a transaction.
 * Throws `database-unavailable` if the file belongs to a different id: it was copied or renamed by hand, and clients
 * would mistake one database for the other.
 */
export function claimIdentity(sql: SqliteFile, databaseId: string): void {
  const owner = identityOwner(sql);
  if (owner === databaseId) return;
  if (owner !== null)
    throw new RockpoolError('database-unavailable', {
      problem: 'the file belongs to a different database; run `rockpool-server doctor` to see which one',
    });
  if (readMeta(sql, 'identity') === undefined) writeMeta(sql, 'identity', derivedIdentity(sql, databaseId));
  writeMeta(sql, 'identity_of', databaseId);
}

/**
 * Assigns the identity of a copy that is being installed. Under a different id the copy becomes a separate database
 * with a new identity; returns whether it did. Call inside a transaction.
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
 * Derives the identity of a database that has no identity yet. It is not random: clients bind to the identity from the
 * first opening, and a restored older backup must get the same one. The seed is the first site that ever wrote, which
 * every backup contains, or the log epoch if no site has written.
 */
function derivedIdentity(sql: SqliteFile, databaseId: string): Uint8Array {
  const [firstSite] = sql.get('SELECT site FROM rockpool_site WHERE number > 0 ORDER BY number LIMIT 1') ?? [];
  const seed = (firstSite ?? readMeta(sql, 'epoch')) as Uint8Array;
  const hash = createHash('sha256').update(`rockpool database identity\n${databaseId}\n`).update(seed);
  return new Uint8Array(hash.digest().subarray(0, ID_BYTES));
}
