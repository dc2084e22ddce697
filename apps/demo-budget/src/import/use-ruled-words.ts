import { useCallback, useMemo } from 'react';
import type { AccountRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import { applyRules } from '../rules/apply.ts';
import { splitWords, statusWords } from '../rules/rule-words.ts';
import { readRules } from '../rules/rule.ts';
import { useQuery } from '../shell/use-query.ts';
import type { ImportDraft } from './rows/preview.ts';

/** Describes the rules' changes to a row imported into an account; returns nothing for an unchanged row. */
export function useRuledWords({
  id: accountId,
  kind,
}: Pick<AccountRow, 'id' | 'kind'>): (draft: ImportDraft) => string {
  const { rows } = useQuery<RuleRow>(rulesInOrder);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const rules = useMemo(() => readRules(rows), [rows]);
  return useCallback(
    (draft) => {
      const { payee, notes, categoryId, status, split } = applyRules(rules, { ...draft, accountId });
      const category = kind === 'off-budget' ? undefined : categories.find(({ id }) => id === categoryId)?.name;
      return [
        ...(payee === draft.payee ? [] : [payee]),
        ...(notes === draft.notes ? [] : [notes]),
        ...(category === undefined ? [] : [category]),
        ...(split.length === 0 || kind === 'off-budget'
          ? []
          : [splitWords(split, { category: (id) => categories.find((one) => one.id === id)?.name ?? 'a category' })]),
        ...(status === 'open' ? [statusWords.open] : []),
      ].join(' · ');
    },
    [accountId, categories, kind, rules],
  );
}
