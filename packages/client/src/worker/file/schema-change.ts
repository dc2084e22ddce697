import {
  columnSql,
  createIndexSql,
  POLICY_DECLARATIONS,
  quoteName,
  RockpoolError,
  tableToDdl,
  type ColumnSchema,
  type MergeRules,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';

/** One step from a stored schema to a wanted one. Errors name its `table` and `column`. */
export interface SchemaStep {
  readonly sql: string;
  readonly table: string;
  readonly column: string | null;
}

/**
 * Plans the additive change from the stored schema to the wanted one: new tables, new columns that may be NULL or have
 * a default, and new indexes. Indexes that are not unique may also be dropped or changed, because they contain no data.
 * Throws `schema-incompatible` for any other change.
 */
export function planSchemaChange(stored: Schema, wanted: Schema): SchemaStep[] {
  const storedByName = new Map(stored.tables.map((table) => [table.name, table]));
  const wantedNames = new Set(wanted.tables.map(({ name }) => name));
  for (const { name } of stored.tables)
    if (!wantedNames.has(name)) throw incompatible(name, null, 'the app no longer has this table');
  return wanted.tables.flatMap((table) => {
    const before = storedByName.get(table.name);
    if (before === undefined) return tableToDdl(table).map((sql) => ({ sql, table: table.name, column: null }));
    return changeTable(before, table);
  });
}

function changeTable(before: TableSchema, after: TableSchema): SchemaStep[] {
  const table = after.name;
  requireSame(before.synced, after.synced, table, 'the synced state of the table');
  requireSame(before.primaryKey, after.primaryKey, table, 'the primary key');
  requireSame(before.uniques, after.uniques, table, 'the UNIQUE constraints');
  requireSame(before.foreignKeys, after.foreignKeys, table, 'the foreign keys');
  requireSame(before.checks, after.checks, table, 'the CHECK constraints');
  for (const { name } of before.columns) {
    if (!after.columns.some((column) => column.name === name))
      throw incompatible(table, name, 'the app no longer has this column');
  }
  return [...after.columns.flatMap((column) => changeColumn(after, before, column)), ...changeIndexes(before, after)];
}

function changeColumn({ name: table, merge }: TableSchema, before: TableSchema, column: ColumnSchema): SchemaStep[] {
  const known = before.columns.find(({ name }) => name === column.name);
  if (known !== undefined) {
    if (!same(known, column))
      throw incompatible(table, column.name, 'the type, default or merge rule of the column changed');
    const problem = policyChangeProblem(before.merge, merge, column.name);
    if (problem !== null) throw incompatible(table, column.name, problem);
    return [];
  }
  if (column.generated?.mode === 'stored')
    throw incompatible(table, column.name, 'a stored generated column cannot be added; a virtual one can');
  if (column.notNull && column.defaultSql === null && column.generated === null)
    throw incompatible(table, column.name, 'a new column needs a default or must allow NULL');
  return [{ sql: `ALTER TABLE ${quoteName(table)} ADD COLUMN ${columnSql(column)}`, table, column: column.name }];
}

/** Returns why a column that has rows cannot change from one merge rule to another; null if it can. */
export function policyChangeProblem(before: MergeRules, after: MergeRules, column: string): string | null {
  const changed = POLICY_DECLARATIONS.find(
    ({ changeProblem, ruleOf }) => changeProblem !== null && !same(ruleOf(before, column), ruleOf(after, column)),
  );
  return changed?.changeProblem ?? null;
}

function changeIndexes(before: TableSchema, after: TableSchema): SchemaStep[] {
  const table = after.name;
  const steps: SchemaStep[] = [];
  for (const index of before.indexes) {
    const wanted = after.indexes.find(({ name }) => name === index.name);
    if (wanted !== undefined && same(wanted, index)) continue;
    if (index.unique) throw incompatible(table, null, `the unique index ${index.name} was removed or changed`);
    steps.push({ sql: `DROP INDEX ${quoteName(index.name)}`, table, column: null });
  }
  for (const index of after.indexes) {
    if (before.indexes.some((known) => same(known, index))) continue;
    steps.push({ sql: createIndexSql(table, index), table, column: null });
  }
  return steps;
}

function requireSame(before: unknown, after: unknown, table: string, what: string): void {
  if (!same(before, after)) throw incompatible(table, null, `${what} changed`);
}

/** Whether two parts of schemas have the same JSON. */
export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** `column`: null for the whole table. */
export function incompatible(table: string, column: string | null, problem: string): RockpoolError {
  return new RockpoolError('schema-incompatible', column === null ? { table, problem } : { table, column, problem });
}
