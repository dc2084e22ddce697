import { RockpoolError } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';

/** Limits of what one member may add to one database. */
export interface Quotas {
  /** Sites of one principal that have written to one database. A push of another site is refused with `quota-exceeded`. */
  readonly maxSitesPerPrincipal: number;
}

/** A person has some devices, and loses some to cleared browsers. The server keeps a row per site forever. */
export const QUOTAS: Quotas = { maxSitesPerPrincipal: 1_000 };

/** Throws `quota-exceeded` if the principal has too many sites, the new one included. */
export function requireRoomForSite({ sites }: DatabaseFile, principal: string, { maxSitesPerPrincipal }: Quotas): void {
  if (sites.countOf(principal) > maxSitesPerPrincipal)
    throw new RockpoolError('quota-exceeded', { quota: 'sites', limit: maxSitesPerPrincipal });
}
