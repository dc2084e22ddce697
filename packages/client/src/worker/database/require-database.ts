import { RockpoolError } from '@rockpool/shared';
import type { Meta } from '../file/meta.ts';

/**
 * Keeps the rows of one server database out of another. A local database belongs to no server until it is opened with
 * `sync`. From then on it permanently belongs to that `databaseId`, and earlier writes go there. Call it before
 * anything in the file changes. `databaseId` is null when the database is opened without `sync`.
 *
 * Throws `database-mismatch` with both ids.
 */
export function requireDatabase(meta: Meta, databaseId: string | null): void {
  const { databaseId: belongsTo } = meta;
  if (databaseId !== null && belongsTo !== null && belongsTo !== databaseId)
    throw new RockpoolError('database-mismatch', { belongsTo, asked: databaseId });
}

/** Binds a local database that belongs to no server yet. Only the writer calls this. */
export function bindDatabase(meta: Meta, databaseId: string | null): void {
  if (databaseId !== null && meta.databaseId === null) meta.set('database_id', databaseId);
}
