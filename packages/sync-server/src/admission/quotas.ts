import { decodeChangesetBody, RockpoolError, type PushedChangeset } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';

/** Limits of what one database, and one member of it, may store. */
export interface Quotas {
  /**
   * The maximum number of sites of one principal that may write to one database. Pushes of further sites are refused
   * with `quota-exceeded`. A device becomes a new site when its user withdraws a change that waits, when its file was
   * copied, or when the server was restored from a backup. Default: 1,000.
   */
  readonly maxSitesPerPrincipal: number;
  /**
   * The maximum size in bytes of one database on the server's disk, without free pages. Once it is reached, pushes are
   * refused with `quota-exceeded`, except for those that only delete rows. Default: unlimited.
   */
  readonly maxDatabaseBytes: number;
  /**
   * The maximum total size in bytes of the databases of one tenant (`tenantOf` of the server), measured every 10 s.
   * Default: unlimited.
   */
  readonly maxTenantBytes: number;
}

/** Facts about the rest of the server on which admission depends. */
export interface Room {
  /** The bytes of all databases of this database's tenant. */
  readonly tenantBytes: () => number;
  /** Whether the disk is full except for the reserve, which is kept for deletes. */
  readonly isDiskFull: () => boolean;
  /**
   * Takes bytes from the part of the reserve for changesets that precede a delete of the same site and must be stored
   * first. Returns whether enough was left.
   */
  readonly takeReserve: (bytes: number) => boolean;
}

/** A user has a few devices, and loses some when browsers are cleared. The server keeps a row per site forever. */
export const QUOTAS: Quotas = { maxSitesPerPrincipal: 1_000, maxDatabaseBytes: Infinity, maxTenantBytes: Infinity };

export const UNLIMITED_ROOM: Room = { tenantBytes: () => 0, isDiskFull: () => false, takeReserve: () => true };

/** Throws `quota-exceeded` if the principal would have too many sites, including the new one. */
export function requireRoomForSite({ sites }: DatabaseFile, principal: string, { maxSitesPerPrincipal }: Quotas): void {
  if (sites.countOf(principal) > maxSitesPerPrincipal)
    throw new RockpoolError('quota-exceeded', { quota: 'sites', limit: maxSitesPerPrincipal });
}

/**
 * How far a full database may go beyond its limit. A site's changesets are decided in order, so a delete that frees
 * space may wait behind inserts, which are admitted up to this size.
 */
const SLACK_BYTES = 1024 * 1024;

export interface RoomToGrow {
  /** The number of changesets, in order, that may be admitted. */
  readonly admitted: number;
  /**
   * The reason why the other changesets are refused: `quota-exceeded` or `server-disk-full`. The device keeps them and
   * resends them.
   */
  readonly refusal: RockpoolError | null;
}

/**
 * In a full database, admits changesets that only delete rows, and the changesets before them if those fit into the
 * slack.
 */
export function roomToGrow(
  file: DatabaseFile,
  changesets: readonly PushedChangeset[],
  { maxDatabaseBytes, maxTenantBytes }: Quotas,
  { tenantBytes, isDiskFull, takeReserve }: Room,
): RoomToGrow {
  const everything = { admitted: changesets.length, refusal: null };
  if (changesets.length === 0) return everything;
  const isFull = isDiskFull();
  const overBytes = Math.max(
    maxDatabaseBytes < Infinity ? usedBytes(file) - maxDatabaseBytes : -Infinity,
    maxTenantBytes < Infinity ? tenantBytes() - maxTenantBytes : -Infinity,
  );
  if (!isFull && overBytes < 0) return everything;
  const deletes = changesets.map(onlyDeletes);
  if (deletes.every(Boolean)) return everything;
  const refusal = isFull
    ? new RockpoolError('server-disk-full')
    : maxDatabaseBytes < Infinity && usedBytes(file) >= maxDatabaseBytes
      ? new RockpoolError('quota-exceeded', { quota: 'database-bytes', limit: maxDatabaseBytes })
      : new RockpoolError('quota-exceeded', { quota: 'tenant-bytes', limit: maxTenantBytes });
  const admitted = deletes.lastIndexOf(true) + 1;
  const growthBytes = changesets
    .slice(0, admitted)
    .reduce((sum, { body }, i) => (deletes[i] === true ? sum : sum + body.length), 0);
  const fits =
    admitted > 0 && Math.max(0, overBytes) + growthBytes <= SLACK_BYTES && (!isFull || takeReserve(growthBytes));
  return fits ? { admitted, refusal: admitted < changesets.length ? refusal : null } : { admitted: 0, refusal };
}

export function usedBytes({ sql }: DatabaseFile): number {
  const read = (name: string): number => Number(sql.get(`PRAGMA ${name}`)?.[0] ?? 0n);
  return (read('page_count') - read('freelist_count')) * read('page_size');
}

function onlyDeletes({ body }: PushedChangeset): boolean {
  try {
    return decodeChangesetBody(body).groups.every(({ kind }) => kind === 'delete');
  } catch {
    // The changeset will be rejected, so it needs no space.
    return true;
  }
}
