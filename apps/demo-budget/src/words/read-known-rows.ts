import type { Client } from '@rockpool/client';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoryNames, type CategoryNameRow } from '../queries/categories.ts';
import { entriesByIds } from '../queries/entries-by-ids.ts';
import { locale } from '../shell/locale.ts';
import type { ChangedRow, ComparedEntry, KnownRows } from './row-differences.ts';

export const NOTHING_KNOWN: KnownRows = {
  wording: { locale, categoryNames: new Map(), accountNames: new Map(), currency: 'EUR' },
  entries: new Map(),
  currencyOfAccount: new Map(),
};

/** Reads the names of changed rows. If several clients have a row, those of the last one are used. */
export async function readKnownRows(
  clients: readonly Pick<Client, 'query'>[],
  rows: readonly Pick<ChangedRow, 'table' | 'key'>[],
): Promise<KnownRows> {
  const ids = rows.flatMap(({ table, key }) => {
    const id = String(key[0]);
    return table === 'entries' ? [id] : table === 'parts' ? [id.slice(0, id.lastIndexOf('/'))] : [];
  });
  const known = await Promise.all(
    clients.map(
      async (client) =>
        await Promise.all([
          client.query<CategoryNameRow>(categoryNames),
          client.query<AccountRow>(accountsWithBalances),
          client.query<ComparedEntry>(entriesByIds, [JSON.stringify(ids)]),
        ]),
    ),
  );
  const accounts = known.flatMap(([, own]) => own);
  return {
    wording: {
      locale,
      categoryNames: new Map(known.flatMap(([own]) => own).map(({ id, name }) => [id, name])),
      accountNames: new Map(accounts.map(({ id, name }) => [id, name])),
      currency: accounts[0]?.currency ?? 'EUR',
    },
    entries: new Map(known.flatMap(([, , own]) => own).map((entry) => [entry.id, entry])),
    currencyOfAccount: new Map(accounts.map(({ id, currency }) => [id, currency])),
  };
}
