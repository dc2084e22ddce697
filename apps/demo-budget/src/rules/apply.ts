import type { RuleRow } from '../queries/rules.ts';

/** What rules look at. */
export interface RuleSubject {
  readonly payee: string;
  readonly notes: string;
  readonly amountMinor: number;
}

export interface RuleOutcome {
  readonly payee: string;
  /** Null: no rule has one for it. */
  readonly categoryId: string | null;
}

/**
 * What the rules make of an entry. They are tried in order; the first that gives a payee gives it, and so for the category. All of them look at the entry as
 * it came, so what one does never hides it from another.
 */
export function applyRules(rules: readonly RuleRow[], subject: RuleSubject): RuleOutcome {
  const matching = rules.filter((rule) => ruleMatches(rule, subject));
  return {
    payee: matching.find((rule) => rule.payee !== null)?.payee ?? subject.payee,
    categoryId: matching.find((rule) => rule.categoryId !== null)?.categoryId ?? null,
  };
}

export function ruleMatches({ field, test, value }: RuleRow, subject: RuleSubject): boolean {
  if (field === 'amount') {
    const amountMinor = Math.abs(subject.amountMinor);
    const limitMinor = Number(value);
    if (test === 'at-least') return amountMinor >= limitMinor;
    if (test === 'at-most') return amountMinor <= limitMinor;
    return test === 'is' && amountMinor === limitMinor;
  }
  const text = folded(subject[field]);
  const wanted = folded(value);
  if (wanted === '') return false;
  return test === 'contains' ? text.includes(wanted) : test === 'is' && text === wanted;
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();
}
