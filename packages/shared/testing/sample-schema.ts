import { buildSchema } from '../src/schema/build-schema.ts';
import { columnIdOf, tableIdOf } from '../src/schema/identity.ts';
import {
  DEFAULT_MERGE_RULES,
  type ColumnSchema,
  type ColumnType,
  type Schema,
  type TableSchema,
} from '../src/schema/schema.ts';

export function sampleColumn(name: string, type: ColumnType, options: Partial<ColumnSchema> = {}): ColumnSchema {
  return { id: columnIdOf(name), name, type, notNull: false, defaultSql: null, generated: null, ...options };
}

export function sampleTable(
  name: string,
  columns: readonly ColumnSchema[],
  options: Partial<TableSchema> = {},
): TableSchema {
  return {
    id: tableIdOf(name),
    name,
    columns,
    primaryKey: [columns[0]?.name ?? 'id'],
    uniques: [],
    foreignKeys: [],
    checks: [],
    indexes: [],
    merge: DEFAULT_MERGE_RULES,
    synced: true,
    ...options,
  };
}

/**
 * A small schema with one of each: composite key, unique, check, foreign key, index, blob, real, defaults, a local
 * table.
 */
export const sampleSchema: Schema = buildSchema([
  sampleTable(
    'account',
    [
      sampleColumn('id', 'text', { notNull: true }),
      sampleColumn('name', 'text', { notNull: true }),
      sampleColumn('balance', 'real'),
      sampleColumn('picture', 'blob'),
    ],
    { uniques: [['name']], checks: [{ name: 'named', sql: 'length("name") > 0' }] },
  ),
  sampleTable(
    'entry',
    [
      sampleColumn('id', 'text', { notNull: true }),
      sampleColumn('account_id', 'text', { notNull: true }),
      sampleColumn('amount', 'integer', { notNull: true, defaultSql: '0' }),
      sampleColumn('note', 'text'),
    ],
    {
      foreignKeys: [
        {
          columns: ['account_id'],
          foreignTable: 'account',
          foreignColumns: ['id'],
          onDelete: 'no action',
          onUpdate: 'no action',
        },
      ],
      indexes: [{ name: 'entry_by_account', unique: false, expressions: ['"account_id"'], whereSql: null }],
    },
  ),
  sampleTable(
    'rate',
    [
      sampleColumn('month', 'text', { notNull: true }),
      sampleColumn('code', 'integer', { notNull: true }),
      sampleColumn('value', 'real'),
    ],
    {
      primaryKey: ['month', 'code'],
    },
  ),
  sampleTable('draft', [sampleColumn('id', 'integer', { notNull: true }), sampleColumn('content', 'text')], {
    synced: false,
  }),
]);
