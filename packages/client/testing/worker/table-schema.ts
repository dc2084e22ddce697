import {
  columnIdOf,
  DEFAULT_MERGE_RULES,
  tableIdOf,
  type ColumnSchema,
  type ColumnType,
  type TableSchema,
} from '@rockpool/shared';

/** Builds a column from a declaration such as `text`, `integer not null` or `real default 1.5`. */
export function testColumn(name: string, declaration: string): ColumnSchema {
  const [type = 'text'] = declaration.split(' ');
  const defaultSql = / default (.+)$/.exec(declaration)?.[1] ?? null;
  const generatedSql = / as (.+) (stored|virtual)$/.exec(declaration);
  return {
    id: columnIdOf(name),
    name,
    type: type as ColumnType,
    notNull: declaration.includes(' not null'),
    defaultSql,
    generated:
      generatedSql === null ? null : { sql: generatedSql[1] as string, mode: generatedSql[2] as 'stored' | 'virtual' },
  };
}

/** Builds a synced table with the key `id` unless another is given. */
export function testTable(
  name: string,
  columns: Readonly<Record<string, string>>,
  parts: Partial<TableSchema> = {},
): TableSchema {
  return {
    id: tableIdOf(name),
    name,
    columns: Object.entries(columns).map(([column, declaration]) => testColumn(column, declaration)),
    primaryKey: ['id'],
    uniques: [],
    foreignKeys: [],
    checks: [],
    indexes: [],
    merge: DEFAULT_MERGE_RULES,
    synced: true,
    ...parts,
  };
}
