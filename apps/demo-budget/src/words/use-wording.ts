import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoryNames, type CategoryNameRow } from '../queries/categories.ts';
import { locale } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';
import type { Wording } from './row-words.ts';

/** Names for ids in rows, kept current. */
export function useWording(): Wording {
  const { rows: categories } = useQuery<CategoryNameRow>(categoryNames);
  const { rows: accounts } = useQuery<AccountRow>(accountsWithBalances);
  return {
    locale,
    categoryNames: new Map(categories.map(({ id, name }) => [id, name])),
    accountNames: new Map(accounts.map(({ id, name }) => [id, name])),
    currency: accounts[0]?.currency ?? 'EUR',
  };
}
