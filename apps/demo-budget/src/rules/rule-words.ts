import { decimalMarkOf, minorToDecimalText } from '../money/format.ts';
import type { RuleField, RuleTest } from '../schema.ts';
import { locale } from '../shell/locale.ts';
import type { RulePart } from './rule-split.ts';
import { choicesOf, type Rule, type RuleCondition, type RuleStatus } from './rule.ts';

/** The names of what rules refer to. */
export interface RuleNames {
  readonly category: (categoryId: string) => string;
  readonly account: (accountId: string) => string;
  /** The currency of displayed amounts. */
  readonly currency: string;
}

export const fieldWords: Readonly<Record<RuleField, string>> = {
  payee: 'the payee',
  notes: 'the memo',
  amount: 'the amount',
  account: 'the account',
};

export const testWords: Readonly<Record<RuleTest, string>> = {
  contains: 'contains',
  is: 'is',
  starts: 'begins with',
  'one-of': 'is one of',
  'at-least': 'is at least',
  'at-most': 'is at most',
};

/** `If the payee contains “market” and the amount is at least 10.00, the category is Groceries.` */
export function ruleSentence(rule: Rule, names: RuleNames): string {
  const outcomes = [
    ...(rule.split.length === 0 ? [] : [`the entry is split into ${splitWords(rule.split, names)}`]),
    ...(rule.categoryId === null ? [] : [`the category is ${names.category(rule.categoryId)}`]),
    ...(rule.payee === null ? [] : [`the payee becomes “${rule.payee}”`]),
    ...(rule.notes === null ? [] : [`the memo becomes “${rule.notes}”`]),
    ...(rule.status === null ? [] : [`the status becomes ${statusWords[rule.status].toLowerCase()}`]),
  ];
  return `If ${conditionsSentence(rule, names)}, ${outcomes.join(' and ')}.`;
}

/** `60% Groceries and the rest Household` */
export function splitWords(split: readonly RulePart[], names: Pick<RuleNames, 'category'>): string {
  return listFormat.format(
    split.map(
      ({ categoryId, percent }) =>
        `${percent === null ? 'the rest' : percentFormat.format(percent / 100)} ${categoryId === null ? 'without a category' : names.category(categoryId)}`,
    ),
  );
}

const percentFormat = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 });
const listFormat = new Intl.ListFormat('en', { type: 'conjunction' });

export const statusWords: Readonly<Record<RuleStatus, string>> = { open: 'Not cleared', cleared: 'Cleared' };

/** `the payee contains “market” and the amount is at least 10.00` */
export function conditionsSentence(
  { needs, conditions }: Pick<Rule, 'needs' | 'conditions'>,
  names: Pick<RuleNames, 'account' | 'currency'>,
): string {
  return conditions
    .map((condition) => `${fieldWords[condition.field]} ${testWords[condition.test]} ${valueWords(condition, names)}`)
    .join(needs === 'all' ? ' and ' : ' or ');
}

function valueWords(
  { field, test, value }: RuleCondition,
  { account, currency }: Pick<RuleNames, 'account' | 'currency'>,
): string {
  if (field === 'amount')
    return minorToDecimalText(Number(value), currency).replace('.', decimalMarkOf(locale) === 'comma' ? ',' : '.');
  const choices = test === 'one-of' ? choicesOf(value) : [value];
  return choices.map((choice) => (field === 'account' ? account(choice) : `“${choice}”`)).join(', ');
}
