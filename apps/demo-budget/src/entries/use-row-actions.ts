import { useClient } from '@rockpool/client/react';
import { useCallback, useState } from 'react';
import type { CategoryRow } from '../queries/categories.ts';
import type { LedgerRow } from '../queries/ledger.ts';
import { useAction } from '../shell/failure.tsx';
import { setCategory, setCleared } from './actions.ts';
import type { EntryRowProps } from './entry-row.tsx';
import type { SamePayee } from './same-payee-offer.tsx';

export interface RowActions extends Pick<EntryRowProps, 'onCategory' | 'onCleared'> {
  /** The payee whose entry just got a category: the same category is offered for its other entries. */
  readonly samePayee: SamePayee | null;
  readonly onOfferDone: () => void;
}

/** The changes that a row of the ledger makes in place. Stable functions, so that rows do not render again. */
export function useRowActions(categories: readonly CategoryRow[]): RowActions {
  const client = useClient();
  const run = useAction();
  const [samePayee, setSamePayee] = useState<SamePayee | null>(null);
  const onCategory = useCallback(
    (entry: LedgerRow, categoryId: string | null) => {
      run(() => setCategory(client, [entry.id], categoryId), 'Category changed.');
      const category = categories.find(({ id }) => id === categoryId);
      setSamePayee(
        category === undefined || entry.payee === ''
          ? null
          : { payee: entry.payee, categoryId: category.id, categoryName: category.name },
      );
    },
    [categories, client, run],
  );
  const onCleared = useCallback(
    (entry: LedgerRow, cleared: boolean) => run(() => setCleared(client, [entry.id], cleared)),
    [client, run],
  );
  const onOfferDone = useCallback(() => setSamePayee(null), []);
  return { samePayee, onCategory, onCleared, onOfferDone };
}
