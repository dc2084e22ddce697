import type { RulePart } from './rule-split.ts';
import { choicesOf, type Rule, type RuleCondition, type RuleStatus } from './rule.ts';

/** The input of rules. */
export interface RuleSubject {
  readonly payee: string;
  readonly notes: string;
  readonly amountMinor: number;
  readonly accountId: string;
}

export interface RuleOutcome {
  readonly payee: string;
  readonly notes: string;
  /** Null if no rule sets one. */
  readonly categoryId: string | null;
  /** Null if no rule sets one. */
  readonly status: RuleStatus | null;
  /** Empty: no rule splits the entry. */
  readonly split: readonly RulePart[];
}

/**
 * Applies the rules to an entry. Rules are tried in order; the first one that sets a payee wins, and likewise for the
 * status and the notes. The first rule that sets a category or a split decides about both. Every rule sees the original
 * entry, so a rule never hides it from a later one.
 */
export function applyRules(rules: readonly Rule[], subject: RuleSubject): RuleOutcome {
  const matching = rules.filter((rule) => ruleMatches(rule, subject));
  const dividing = matching.find((rule) => rule.categoryId !== null || rule.split.length > 0);
  const split = dividing?.split ?? [];
  return {
    payee: matching.find((rule) => rule.payee !== null)?.payee ?? subject.payee,
    notes: matching.find((rule) => rule.notes !== null)?.notes ?? subject.notes,
    categoryId: split.length > 0 ? null : (dividing?.categoryId ?? null),
    status: matching.find((rule) => rule.status !== null)?.status ?? null,
    split,
  };
}

export function ruleMatches({ needs, conditions }: Pick<Rule, 'needs' | 'conditions'>, subject: RuleSubject): boolean {
  const holds = (condition: RuleCondition): boolean => conditionHolds(condition, subject);
  return needs === 'all' ? conditions.every(holds) : conditions.some(holds);
}

function conditionHolds({ field, test, value }: RuleCondition, subject: RuleSubject): boolean {
  if (field === 'account') return choicesOf(value).includes(subject.accountId);
  if (field !== 'amount') return textHolds(test, subject[field], value);
  const amountMinor = Math.abs(subject.amountMinor);
  const limitMinor = Number(value);
  if (test === 'at-least') return amountMinor >= limitMinor;
  return test === 'at-most' ? amountMinor <= limitMinor : amountMinor === limitMinor;
}

function textHolds(test: RuleCondition['test'], given: string, value: string): boolean {
  const text = folded(given);
  if (test === 'one-of') return choicesOf(value).some((choice) => folded(choice) === text);
  const wanted = folded(value);
  if (wanted === '') return false;
  if (test === 'contains') return text.includes(wanted);
  return test === 'starts' ? text.startsWith(wanted) : text === wanted;
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();
}
