import { decodeChangesetBody, RockpoolError, type PushedChangeset } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';

/** Limits of what one database, and one member of it, may hold. */
export interface Quotas {
  /** Sites of one principal that have written to one database. A push of another site is refused with `quota-exceeded`. */
  readonly maxSitesPerPrincipal: number;
  /**
   * Bytes of one database on the server's disk, without free pages. Above it, pushes are refused with `quota-exceeded`,
   * except for those that only delete rows. Default: unlimited.
   */
  readonly maxDatabaseBytes: number;
  /** Bytes of all databases of one tenant (`tenantOf` of the server), measured every 10 s. Default: unlimited. */
  readonly maxTenantBytes: number;
}

/** What admission has to know about the rest of the server. */
export interface Room {
  /** Bytes of all databases of the tenant of this database. */
  readonly tenantBytes: () => number;
  /** Whether only the reserve is left on the disk, which is for deletes. */
  readonly isDiskFull: () => boolean;
}

/** A person has some devices, and loses some to cleared browsers. The server keeps a row per site forever. */
export const QUOTAS: Quotas = { maxSitesPerPrincipal: 1_000, maxDatabaseBytes: Infinity, maxTenantBytes: Infinity };

export const UNLIMITED_ROOM: Room = { tenantBytes: () => 0, isDiskFull: () => false };

/** Throws `quota-exceeded` if the principal has too many sites, the new one included. */
export function requireRoomForSite({ sites }: DatabaseFile, principal: string, { maxSitesPerPrincipal }: Quotas): void {
  if (sites.countOf(principal) > maxSitesPerPrincipal)
    throw new RockpoolError('quota-exceeded', { quota: 'sites', limit: maxSitesPerPrincipal });
}

/**
 * Throws `quota-exceeded` or `server-disk-full` if the database may not grow and the changesets do more than delete
 * rows. The device keeps them and sends them again.
 */
export function requireRoomToGrow(
  file: DatabaseFile,
  changesets: readonly PushedChangeset[],
  { maxDatabaseBytes, maxTenantBytes }: Quotas,
  { tenantBytes, isDiskFull }: Room,
): void {
  const refusal = isDiskFull()
    ? new RockpoolError('server-disk-full')
    : maxDatabaseBytes < Infinity && usedBytes(file) >= maxDatabaseBytes
      ? new RockpoolError('quota-exceeded', { quota: 'database-bytes', limit: maxDatabaseBytes })
      : maxTenantBytes < Infinity && tenantBytes() >= maxTenantBytes
        ? new RockpoolError('quota-exceeded', { quota: 'tenant-bytes', limit: maxTenantBytes })
        : null;
  if (refusal !== null && !changesets.every(onlyDeletes)) throw refusal;
}

export function usedBytes({ sql }: DatabaseFile): number {
  const read = (name: string): number => Number(sql.get(`PRAGMA ${name}`)?.[0] ?? 0n);
  return (read('page_count') - read('freelist_count')) * read('page_size');
}

function onlyDeletes({ body }: PushedChangeset): boolean {
  try {
    return decodeChangesetBody(body).groups.every(({ kind }) => kind === 'delete');
  } catch {
    // Admission rejects it, which takes no room.
    return true;
  }
}
