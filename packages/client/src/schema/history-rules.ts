import type { HistoryRule } from '@rockpool/shared';
import { getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { DeclarationProblem } from './problems.ts';

/** A table whose history is kept for a limited time. */
export interface TableHistory {
  readonly table: SQLiteTable;
  /** How many days the server keeps a version, at least 1. Default: no limit. */
  readonly retainedDays?: number;
}

/** Returns the rules by table name and reports tables that are declared twice. */
export function readHistoryRules(
  declared: readonly (SQLiteTable | TableHistory)[],
  problems: DeclarationProblem[],
): Map<string, HistoryRule> {
  const rulesByTable = new Map<string, HistoryRule>();
  for (const one of declared) {
    const { table, retainedDays }: TableHistory = is(one, SQLiteTable) ? { table: one } : one;
    const name = getTableName(table);
    if (rulesByTable.has(name))
      problems.push({
        table: name,
        column: null,
        problem: 'The history of the table is declared twice; remove one declaration.',
      });
    rulesByTable.set(name, { retainedDays: retainedDays ?? null });
  }
  return rulesByTable;
}
