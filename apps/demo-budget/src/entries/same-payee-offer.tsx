import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { uncategorisedOfPayee, type UncategorisedRow } from '../queries/payees.ts';
import { useAction } from '../shell/failure.tsx';
import { useQuery } from '../shell/use-query.ts';
import { categorisePayee } from './actions.ts';

export interface SamePayee {
  readonly payee: string;
  readonly categoryId: string;
  readonly categoryName: string;
}

/**
 * After a category was chosen, offers it for the payee's other uncategorised entries. Renders nothing if there are
 * none.
 */
export function SamePayeeOffer({
  payee,
  categoryId,
  categoryName,
  onDone,
}: SamePayee & { readonly onDone: () => void }): ReactNode {
  const client = useClient();
  const run = useAction();
  const { rows } = useQuery<UncategorisedRow>(uncategorisedOfPayee, [payee]);
  const entryCount = rows[0]?.entryCount ?? 0;
  if (entryCount === 0) return null;
  const apply = (): void =>
    run(async () => {
      await categorisePayee(client, payee, categoryId);
      onDone();
    });
  return (
    <p className="offer" role="status">
      <span>
        {entryCount === 1 ? 'One more entry' : `${entryCount} more entries`} of {payee}{' '}
        {entryCount === 1 ? 'has' : 'have'} no category.
      </span>
      <button type="button" onClick={apply}>
        Use {categoryName}
      </button>
      <button type="button" className="quiet" onClick={onDone}>
        Not now
      </button>
    </p>
  );
}
