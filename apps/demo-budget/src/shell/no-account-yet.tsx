import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { hashOf } from './navigation.ts';

/** For pages that are empty without an account: the reason, and a link that adds one. */
export function NoAccountYet({
  budget,
  children,
}: {
  readonly budget: Budget;
  readonly children: ReactNode;
}): ReactNode {
  const mayWrite = useMayWrite();
  return (
    <p className="empty">
      {children} {mayWrite && <a href={hashOf(budget)}>Add an account first</a>}
    </p>
  );
}
