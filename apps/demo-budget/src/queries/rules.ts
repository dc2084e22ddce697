import type { RuleField, RuleTest } from '../schema.ts';

export interface RuleRow {
  readonly id: string;
  readonly field: RuleField;
  readonly test: RuleTest;
  readonly value: string;
  readonly categoryId: string | null;
  readonly payee: string | null;
}

/** The rules in the order in which they are tried. No parameters. */
export const rulesInOrder = `
  SELECT id, field, test, value, categoryId, payee FROM rules ORDER BY createdAtMs, id`;
