import {
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  DEFAULT_RENAME_SUFFIX,
  type DeleteRule,
  type DocumentColumn,
  type DocumentRule,
  type ForeignKeyRule,
  type MergeRules,
  type UniqueRule,
} from '@rockpool/shared';
import { getTableName } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { DeclarationProblem } from './problems.ts';

/** How concurrent writes of one table merge. All other columns use last writer wins, column by column. */
export interface TableMergeRules {
  readonly table: SQLiteTable;
  /** What happens to a row that one device deletes while another updates it. Default `delete-wins`. */
  readonly deleteRule?: DeleteRule;
  /**
   * What happens to a row whose unique value another row has. Default `reject`: its changeset is rejected. `{ rename:
   * column }`: the row is renamed, with the suffix " (2)" or the declared one.
   */
  readonly uniqueRule?: 'reject' | RenameDeclaration;
  /**
   * What happens to a row whose parent another device deletes, if neither device has seen the write of the other.
   * Default: the foreign key's `onDelete`; see ForeignKeyRule.
   */
  readonly foreignKeyRules?: readonly ForeignKeyDeclaration[];
  /** Integer columns whose changes add up: `hits = hits + 1` on two devices counts twice. */
  readonly counters?: readonly SQLiteColumn[];
  /** Columns that belong together, such as an amount and its currency: they win or lose as a group. */
  readonly groups?: readonly (readonly SQLiteColumn[])[];
  /** Text columns whose JSON merges part by part, so that two users can change different parts of it. */
  readonly documents?: readonly (SQLiteColumn | DocumentDeclaration)[];
}

/** A foreign key, named by its columns, and its rule. */
export interface ForeignKeyDeclaration {
  readonly columns: readonly SQLiteColumn[];
  readonly rule: ForeignKeyRule;
}

/**
 * The TEXT column that is renamed, and the suffix, in which `{n}` stands for the number, starting at 2. Default `
 * ({n})`.
 */
export interface RenameDeclaration {
  readonly rename: SQLiteColumn;
  readonly suffix?: string;
}

/** A document column with rules other than the default; see DocumentRule. */
export interface DocumentDeclaration extends Partial<DocumentRule> {
  readonly column: SQLiteColumn;
}

/**
 * Returns the rules by table name and reports invalid declarations. The schema's own validation checks whether a column
 * may have its rule.
 */
export function readMergeRules(
  declared: readonly TableMergeRules[],
  problems: DeclarationProblem[],
): Map<string, MergeRules> {
  const rulesByTable = new Map<string, MergeRules>();
  for (const {
    table,
    deleteRule,
    uniqueRule,
    foreignKeyRules,
    counters = [],
    groups = [],
    documents = [],
  } of declared) {
    const name = getTableName(table);
    const nameOf = (column: SQLiteColumn): string => {
      if (column.table !== table)
        problems.push({
          table: name,
          column: column.name,
          problem: 'The merge rules of the table name this column, which belongs to a different table.',
        });
      return column.name;
    };
    if (rulesByTable.has(name))
      problems.push({
        table: name,
        column: null,
        problem: 'The merge rules of the table are declared twice; declare them together.',
      });
    rulesByTable.set(name, {
      deleteRule: deleteRule ?? DEFAULT_MERGE_RULES.deleteRule,
      ...(uniqueRule === undefined ? {} : { uniqueRule: readUniqueRule(uniqueRule, nameOf) }),
      ...(foreignKeyRules === undefined
        ? {}
        : { foreignKeyRules: foreignKeyRules.map(({ columns, rule }) => ({ columns: columns.map(nameOf), rule })) }),
      counters: counters.map(nameOf),
      groups: groups.map((columns) => columns.map(nameOf)),
      documents: documents.map((document): DocumentColumn => {
        const { column, ...rule }: DocumentDeclaration = 'column' in document ? document : { column: document };
        return { ...DEFAULT_DOCUMENT_RULE, ...rule, column: nameOf(column) };
      }),
    });
  }
  return rulesByTable;
}

function readUniqueRule(
  rule: NonNullable<TableMergeRules['uniqueRule']>,
  nameOf: (column: SQLiteColumn) => string,
): UniqueRule {
  return rule === 'reject' ? rule : { rename: nameOf(rule.rename), suffix: rule.suffix ?? DEFAULT_RENAME_SUFFIX };
}
