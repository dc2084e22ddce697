import { learnedCategory, type LearnedRow } from '../queries/payees.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import type { Writer } from '../writer.ts';
import { applyRules, type RuleOutcome, type RuleSubject } from './apply.ts';
import { readRules } from './rule.ts';

/** Suggestions for an entry being typed: from the rules, else the payee's last category. */
export async function suggestFor(writer: Pick<Writer, 'query'>, subject: RuleSubject): Promise<RuleOutcome> {
  const ruled = applyRules(readRules(await writer.query<RuleRow>(rulesInOrder)), subject);
  // Entries without a payee, such as transfers, have nothing in common.
  if (ruled.categoryId !== null || ruled.split.length > 0 || ruled.payee === '') return ruled;
  const [learned] = await writer.query<LearnedRow>(learnedCategory, [ruled.payee]);
  return { ...ruled, categoryId: learned?.categoryId ?? null };
}
