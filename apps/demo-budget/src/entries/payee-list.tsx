import type { ReactNode } from 'react';
import { frequentPayees, type PayeeRow } from '../queries/payees.ts';
import { useQuery } from '../shell/use-query.ts';

/**
 * The payees to choose from while typing, for the field whose `list` is this id. Asked for only while there is such a
 * field.
 */
export function PayeeList({ id }: { readonly id: string }): ReactNode {
  const { rows } = useQuery<PayeeRow>(frequentPayees);
  return (
    <datalist id={id}>
      {rows.map(({ payee }) => (
        <option key={payee} value={payee} />
      ))}
    </datalist>
  );
}
