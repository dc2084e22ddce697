import { columnIdOf, tableIdOf } from './identity.ts';
import { DEFAULT_MERGE_RULES, type ColumnSchema, type ColumnType, type TableSchema } from './schema.ts';

/** Prefix of Rockpool's own tables on client and server. Apps may read them, never write them. */
export const RESERVED_TABLE_PREFIX = 'rockpool_';

export const CONFLICT_TABLE_NAME = 'rockpool_conflict';

function column(name: string, type: ColumnType, notNull: boolean): ColumnSchema {
  return { id: columnIdOf(name), name, type, notNull, defaultSql: null, generated: null };
}

/**
 * The conflict log: one row per concurrent write that lost. Only the server writes it; it is synced to every client of
 * the database like any other table, and read with plain SQL.
 */
export const CONFLICT_TABLE: TableSchema = {
  id: tableIdOf(CONFLICT_TABLE_NAME),
  name: CONFLICT_TABLE_NAME,
  columns: [
    column('id', 'text', true), // watermark and a number within it: sorts by time of admission
    column('table_name', 'text', true),
    column('row_key', 'text', true), // JSON array of the key's parts; integers as text, blobs as hex
    column('column_name', 'text', false), // NULL: the row as a whole
    column('rule', 'text', true), // a MergeRule of merge/row-model.ts
    column('lost_value', 'blob', false), // of any type: a column without affinity
    column('won_value', 'blob', false), // also NULL if a delete won
    column('lost_by', 'text', true), // principal of the author
    column('won_by', 'text', true),
    column('lost_site', 'text', true),
    column('won_site', 'text', true),
    column('lost_at_ms', 'integer', true), // corrected time of writing, ms since 1970
    column('won_at_ms', 'integer', true),
    column('watermark', 'integer', true), // position of the decision in the log
    // a place in a document, as a JSON array of steps; then both values are JSON. NULL: the whole column
    column('path', 'text', false),
  ],
  primaryKey: ['id'],
  uniques: [],
  foreignKeys: [],
  checks: [],
  indexes: [
    { name: 'rockpool_conflict_row', unique: false, expressions: ['"table_name"', '"row_key"'], whereSql: null },
  ],
  merge: DEFAULT_MERGE_RULES,
  synced: true,
};

/** Tables that both sides create in addition to those of the app. The same stream delivers their rows. */
export const SYSTEM_TABLES: readonly TableSchema[] = [CONFLICT_TABLE];
