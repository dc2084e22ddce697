import { RockpoolError } from '@rockpool/shared';
import type { Meta } from './meta.ts';

/**
 * Keeps the rows of one server database out of another. A local database belongs to no server until it is opened with
 * `sync`; from then on it belongs to that `databaseId` for good, and what was written before goes there. Called before
 * anything of the file is changed. `databaseId`: null where it is opened without `sync`.
 *
 * Throws `database-mismatch` with both ids.
 */
export function requireDatabase(meta: Meta, databaseId: string | null): void {
  const { databaseId: belongsTo } = meta;
  if (databaseId !== null && belongsTo !== null && belongsTo !== databaseId)
    throw new RockpoolError('database-mismatch', { belongsTo, asked: databaseId });
}

/** Binds a local database that belongs to no server yet. Only the writer does. */
export function bindDatabase(meta: Meta, databaseId: string | null): void {
  if (databaseId !== null && meta.databaseId === null) meta.set('database_id', databaseId);
}
