import { schema } from '../schema.ts';

/**
 * The tables of a saved budget. Names of versions are omitted: they refer to the history of the original budget, which
 * a saved budget does not contain.
 */
export const exportedTables: typeof schema.tables = schema.tables.filter(({ name }) => name !== 'version_name');
