import {
  columnGroups,
  counterColumnIds,
  counterDelta,
  keyMatchSql,
  quoteName,
  RockpoolError,
  valueColumns,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type TableSchema,
} from '@rockpool/shared';
import type { Author } from '@rockpool/shared/document';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { CapturedChanges } from './captured-changes.ts';

/** What the merge rules of one table ask of its captured changes. */
interface TableRules {
  readonly table: TableSchema;
  readonly counters: ReadonlySet<number>;
  readonly groups: readonly (readonly number[])[];
  readonly hasDocuments: boolean;
}

/** The tables that have counters, groups of columns or documents, by id. */
export type RulesByTable = ReadonlyMap<number, TableRules>;

export function rulesByTable(tables: readonly TableSchema[]): RulesByTable {
  const rules = tables.map((table): TableRules => ({
    table,
    counters: counterColumnIds(table),
    groups: columnGroups(table),
    hasDocuments: table.merge.documents.length > 0,
  }));
  return new Map(
    rules
      .filter(({ counters, groups, hasDocuments }) => counters.size > 0 || groups.length > 0 || hasDocuments)
      .map((entry) => [entry.table.id, entry]),
  );
}

/**
 * Brings captured changes into the form in which they merge. Call it at the end of the transaction.
 *
 * - An update of a counter says what it adds; its old value stays as it was. Throws `value-invalid` for a counter that
 *   is not an integer.
 * - An update of one column of a group says them all, so that they win or lose together.
 * - An update of a document says what it edits (documents/capture-documents.ts).
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
    return addRestOfGroups(connection, tableRules, addUpCounters(tableRules, group, before), before);
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

function addUpCounters({ table, counters }: TableRules, group: ChangeGroup, before: BeforeGroup): ChangeGroup {
  if (!group.columnIds.some((columnId) => counters.has(columnId))) return group;
  const values = group.values.map((column, index) => {
    const columnId = group.columnIds[index] as number;
    if (!counters.has(columnId)) return column;
    const old = before.values[index] ?? [];
    return column.map((value, row) => {
      const was = old[row] ?? null;
      if (typeof value !== 'bigint' || typeof was !== 'bigint') throw notInteger(table, columnId);
      return difference(table, columnId, was, value);
    });
  });
  return { ...group, values };
}

function difference(table: TableSchema, columnId: number, before: CellValue, after: CellValue): bigint {
  try {
    return counterDelta(before, after);
  } catch (cause) {
    if (!(cause instanceof RockpoolError)) throw cause;
    throw new RockpoolError(
      cause.code,
      { ...cause.fields, table: table.name, column: columnName(table, columnId) },
      { cause },
    );
  }
}

function addRestOfGroups(
  connection: Connection,
  { table, groups }: TableRules,
  group: ChangeGroup,
  before: BeforeGroup,
): { group: ChangeGroup; before: BeforeGroup } {
  const touched = groups.filter((columnIds) => columnIds.some((columnId) => group.columnIds.includes(columnId)));
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
        throw new RockpoolError('internal', { problem: 'an updated row is not there', table: table.name });
      for (const [index, column] of added.entries()) column.push(statement.readCell(index));
      statement.reset();
    }
  } finally {
    statement.release();
  }
  // They did not change, so their old values are what they are.
  return {
    group: { ...group, columnIds: [...group.columnIds, ...missing], values: [...group.values, ...added] },
    before: { columnIds: [...before.columnIds, ...missing], values: [...before.values, ...added] },
  };
}

function columnName(table: TableSchema, columnId: number): string {
  return valueColumns(table).find(({ id }) => id === columnId)?.name ?? '';
}

function notInteger(table: TableSchema, columnId: number): RockpoolError {
  return new RockpoolError('value-invalid', {
    problem: 'counter-not-integer',
    table: table.name,
    column: columnName(table, columnId),
  });
}
