import type { ReactNode } from 'react';
import { frequentPayees, type PayeeRow } from '../queries/payees.ts';
import { useQuery } from '../shell/use-query.ts';

/** Payee suggestions for the field whose `list` is this id. Queried only while such a field is mounted. */
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
