import type { RuleRow } from '../queries/rules.ts';
import type { RulePart } from './rule-split.ts';
import { readSplit } from './rule-split.ts';
import type { RuleField, RuleNeeds, RuleTest } from '../schema.ts';

export interface RuleCondition {
  readonly field: RuleField;
  readonly test: RuleTest;
  /** A text, an unsigned amount in minor units, or an account id; for `one-of`, one value per line. */
  readonly value: string;
}

/** If these conditions hold, an entry receives these values; null leaves a field unchanged. */
export interface Rule {
  readonly needs: RuleNeeds;
  /** Not empty. */
  readonly conditions: readonly RuleCondition[];
  readonly categoryId: string | null;
  readonly payee: string | null;
  readonly notes: string | null;
  /** A status that a user sets: an entry is reconciled only against a statement. */
  readonly status: RuleStatus | null;
  /** Empty if there is no split. A rule that splits sets no category, because the parts have their own. */
  readonly split: readonly RulePart[];
}

export type RuleStatus = 'open' | 'cleared';

/** The tests available for a field. */
export const testsOf: Readonly<Record<RuleField, readonly RuleTest[]>> = {
  payee: ['contains', 'is', 'starts', 'one-of'],
  notes: ['contains', 'is', 'starts', 'one-of'],
  amount: ['is', 'at-least', 'at-most'],
  account: ['is', 'one-of'],
};

/**
 * Parses a stored rule. Undefined if a newer version of the app has written values that this version does not know: a
 * partly understood rule would match too much.
 */
export function readRule({
  field,
  test,
  value,
  moreConditions,
  needs,
  categoryId,
  payee,
  notes,
  status,
  split,
}: RuleRow): Rule | undefined {
  const more = parsed(moreConditions);
  const conditions: unknown[] = [{ field, test, value }, ...(Array.isArray(more) ? more : [undefined])];
  if (!conditions.every(isCondition) || (needs !== 'all' && needs !== 'any')) return undefined;
  const parts = readSplit(split);
  if (parts === undefined || (status !== null && status !== 'open' && status !== 'cleared')) return undefined;
  return { needs, conditions, categoryId, payee, notes, status, split: parts };
}

/** The rules that can be applied, in order. */
export function readRules(rows: readonly RuleRow[]): Rule[] {
  return rows.map(readRule).filter((rule) => rule !== undefined);
}

/** The lines of a `one-of`. */
export function choicesOf(value: string): string[] {
  return value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function isCondition(given: unknown): given is RuleCondition {
  if (typeof given !== 'object' || given === null) return false;
  const { field, test, value } = given as Partial<Record<keyof RuleCondition, unknown>>;
  if (typeof field !== 'string' || !Object.hasOwn(testsOf, field) || typeof value !== 'string') return false;
  return testsOf[field as RuleField].some((known) => known === test);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
