import {
  keyMatchSql,
  policiesOf,
  quoteName,
  RockpoolError,
  valueColumns,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type TablePolicies,
  type TableSchema,
} from '@rockpool/shared';
import type { Author } from '@rockpool/shared/document';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { CapturedChanges } from '../capture/captured-changes.ts';

/** The merge rules of one table. */
interface TableRules {
  readonly table: TableSchema;
  readonly policies: TablePolicies;
  readonly hasDocuments: boolean;
}

/** The tables with columns that do not merge by last writer wins, by id. */
export type RulesByTable = ReadonlyMap<number, TableRules>;

export function rulesByTable(tables: readonly TableSchema[]): RulesByTable {
  const rules = tables.map((table): TableRules => ({
    table,
    policies: policiesOf(table),
    hasDocuments: table.merge.documents.length > 0,
  }));
  return new Map(rules.filter(({ policies }) => policies.byColumn.size > 0).map((entry) => [entry.table.id, entry]));
}

/**
 * Converts captured changes to the form in which they merge. Call it at the end of the transaction.
 *
 * - An update carries what the column's policy captures, with the unconverted old value. Throws `value-invalid`.
 * - An update of one column of a group carries every column of the group.
 * - An update of a document carries its edit (documents/capture-documents.ts).
 */
export function applyMergeRules(
  connection: Connection,
  rules: RulesByTable,
  author: () => Author,
  captured: CapturedChanges,
): CapturedChanges {
  const changes = withDocuments(connection, rules, author, captured);
  if (rules.size === 0 || !changes.groups.some(({ tableId }) => rules.has(tableId))) return changes;
  const pairs = changes.groups.map((group, index) => {
    const before = changes.before[index] as BeforeGroup;
    const tableRules = rules.get(group.tableId);
    if (tableRules === undefined || group.kind !== 'update') return { group, before };
    return addColumnsTogether(connection, tableRules, captureValues(tableRules, group, before), before);
  });
  return { groups: pairs.map(({ group }) => group), before: pairs.map(({ before }) => before) };
}

function withDocuments(
  connection: Connection,
  rules: RulesByTable,
  author: () => Author,
  changes: CapturedChanges,
): CapturedChanges {
  if (!changes.groups.some(({ tableId }) => rules.get(tableId)?.hasDocuments === true)) return changes;
  const pairs = changes.groups.map((group, index) => {
    const pair = { group, before: changes.before[index] as BeforeGroup };
    const tableRules = rules.get(group.tableId);
    return tableRules?.hasDocuments === true
      ? documentSupport().captureDocuments(connection, tableRules.table, author(), pair)
      : pair;
  });
  return { groups: pairs.map(({ group }) => group), before: pairs.map(({ before }) => before) };
}

function captureValues({ table, policies }: TableRules, group: ChangeGroup, before: BeforeGroup): ChangeGroup {
  const capturing = group.columnIds.map((columnId) => policies.byColumn.get(columnId)?.capture);
  if (capturing.every((capture) => capture === undefined)) return group;
  const values = group.values.map((column, index) => {
    const capture = capturing[index];
    if (capture === undefined) return column;
    const old = before.values[index] ?? [];
    return naming(table, group.columnIds[index] as number, () =>
      column.map((value, row) => capture(old[row] ?? null, value)),
    );
  });
  return { ...group, values };
}

/** Adds table and column to the error of a value. */
function naming<T>(table: TableSchema, columnId: number, body: () => T): T {
  try {
    return body();
  } catch (cause) {
    if (!(cause instanceof RockpoolError)) throw cause;
    throw new RockpoolError(
      cause.code,
      { ...cause.fields, table: table.name, column: columnName(table, columnId) },
      { cause },
    );
  }
}

function addColumnsTogether(
  connection: Connection,
  { table, policies }: TableRules,
  group: ChangeGroup,
  before: BeforeGroup,
): { group: ChangeGroup; before: BeforeGroup } {
  const touched = policies.together.filter((columnIds) =>
    columnIds.some((columnId) => group.columnIds.includes(columnId)),
  );
  const missing = touched.flat().filter((columnId) => !group.columnIds.includes(columnId));
  if (missing.length === 0) return { group, before };
  const columns = missing.map((columnId) => quoteName(columnName(table, columnId))).join(', ');
  const statement = connection.prepare(
    `SELECT ${columns} FROM main.${quoteName(table.name)} WHERE ${keyMatchSql(table)}`,
  );
  const added = missing.map((): CellValue[] => []);
  try {
    for (let row = 0; row < group.rowCount; row++) {
      group.keys.forEach((part, index) => statement.bindCell(index + 1, part[row] as CellValue));
      if (!statement.step())
        throw new RockpoolError('internal', { problem: 'an updated row is missing', table: table.name });
      for (const [index, column] of added.entries()) column.push(statement.readCell(index));
      statement.reset();
    }
  } finally {
    statement.release();
  }
  // These columns did not change, so their old and new values are equal.
  return {
    group: { ...group, columnIds: [...group.columnIds, ...missing], values: [...group.values, ...added] },
    before: { columnIds: [...before.columnIds, ...missing], values: [...before.values, ...added] },
  };
}

function columnName(table: TableSchema, columnId: number): string {
  return valueColumns(table).find(({ id }) => id === columnId)?.name ?? '';
}
