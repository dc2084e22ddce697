import { RockpoolError } from '@rockpool/shared';
import type { Grant } from './grant.ts';

const DATABASE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Letters, digits, `_` and `-`, at most 64: never a path. */
export function isDatabaseId(text: string): boolean {
  return DATABASE_ID.test(text);
}

/**
 * Throws `auth-database-forbidden`, the same for a database that is not allowed, does not exist or cannot be one:
 * the answer tells a stranger nothing.
 */
export function requireDatabase(grant: Grant, databaseId: string): void {
  if (!isDatabaseId(databaseId) || !grant.databases.includes(databaseId)) throw new RockpoolError('auth-database-forbidden');
}
