import { DEFAULT_MERGE_RULES, type DeleteRule, type MergeRules } from '@rockpool/shared';
import { getTableName } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { DeclarationProblem } from './problems.ts';

/** How concurrent writes of one table come together. What is not named is last writer wins, column by column. */
export interface TableMergeRules {
  readonly table: SQLiteTable;
  /** What becomes of a row that one device deletes while another updates it. Default `delete-wins`. */
  readonly deleteRule?: DeleteRule;
  /** Integer columns whose changes add up: `hits = hits + 1` on two devices counts twice. */
  readonly counters?: readonly SQLiteColumn[];
  /** Columns that only together mean something, such as an amount and its currency: they win or lose together. */
  readonly groups?: readonly (readonly SQLiteColumn[])[];
}

/** The rules by table name; what cannot be meant is reported. Whether a column may have its rule is for the schema to say. */
export function readMergeRules(declared: readonly TableMergeRules[], problems: DeclarationProblem[]): Map<string, MergeRules> {
  const rulesByTable = new Map<string, MergeRules>();
  for (const { table, deleteRule, counters = [], groups = [] } of declared) {
    const name = getTableName(table);
    const nameOf = (column: SQLiteColumn): string => {
      if (column.table !== table) problems.push({ table: name, column: column.name, problem: 'Its merge rules name this column, which is one of another table.' });
      return column.name;
    };
    if (rulesByTable.has(name)) problems.push({ table: name, column: null, problem: 'It has merge rules twice; put them together.' });
    rulesByTable.set(name, {
      deleteRule: deleteRule ?? DEFAULT_MERGE_RULES.deleteRule,
      counters: counters.map(nameOf),
      groups: groups.map((columns) => columns.map(nameOf)),
    });
  }
  return rulesByTable;
}
