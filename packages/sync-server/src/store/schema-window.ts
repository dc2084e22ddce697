import { RockpoolError, type Schema } from '@rockpool/shared';
import { schemaAdditions } from './schema-additions.ts';
import { schemaView } from './schema-view.ts';

/** How a server opens a database that was written with a different schema. */
export interface OpenedSchema {
  /** The schema that the database has from now on. */
  readonly schema: Schema;
  /** The statements that migrate a file to this schema. */
  readonly additions: readonly string[];
}

/**
 * A server adds to a database what only the server's schema has. A database whose schema has everything of the server's
 * and more is not changed, and is served with its own schema: after a rollback, or while instances with a newer schema
 * run. Throws `schema-incompatible` for any other difference, listing what the server's schema lacks or declares
 * differently.
 */
export function openedSchema(stored: Schema, own: Schema): OpenedSchema {
  try {
    return { schema: own, additions: schemaAdditions(stored, own) };
  } catch (error) {
    if (schemaView(own, stored) === null) throw error;
    return { schema: stored, additions: [] };
  }
}

/**
 * Returns the stored schema, to which another instance has migrated meanwhile. Throws `schema-incompatible` if it does
 * more than add to the server's own.
 */
export function followedSchema(stored: Schema, own: Schema): Schema {
  schemaAdditions(own, stored);
  if (schemaView(own, stored) === null)
    throw new RockpoolError('schema-incompatible', { count: 1, problems: 'the merge rules of columns differ' });
  return stored;
}
