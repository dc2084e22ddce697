import { RockpoolError } from '../errors/rockpool-error.ts';

/*
 * One line per version: what changed.
 *   1  the first
 *   2  hello and welcome carry the identity of the database (docs/decisions/0051-database-identity.md)
 *   3  a push names the origins of re-created changesets (docs/decisions/0068-origins-of-changesets.md)
 *   4  a push names the earlier site ids of its file (docs/decisions/0126-earlier-sites.md)
 */
export const PROTOCOL_VERSION = 4;

/**
 * The oldest version that this side supports. A client of version 1 does not name the database to which its rows
 * belong.
 */
export const PROTOCOL_FLOOR = 2;

/**
 * Checks the version at the start of hello and welcome; the rest is read only for a supported version. Throws
 * `protocol-version`.
 */
export function requireProtocolVersion(received: number): number {
  if (received < PROTOCOL_FLOOR || received > PROTOCOL_VERSION)
    throw new RockpoolError('protocol-version', { received, floor: PROTOCOL_FLOOR, newest: PROTOCOL_VERSION });
  return received;
}
