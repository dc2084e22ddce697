import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { isPast, useToday, useView } from '../budget/view.ts';
import { hashOf } from '../shell/navigation.ts';
import { useSchedules } from './use-schedules.ts';

/** Says that scheduled entries are due, with a link. Renders nothing if none are. */
export function DueOffer({ budget }: { readonly budget: Budget }): ReactNode {
  const { due } = useSchedules();
  const today = useToday();
  const view = useView();
  const count = due.filter(({ date }) => date <= today).length;
  if (count === 0 || isPast(view)) return null;
  return (
    <p className="offer">
      <span>{count === 1 ? 'One scheduled entry is due.' : `${count} scheduled entries are due.`}</span>
      <a href={hashOf(budget, { page: 'schedules' })}>Review</a>
    </p>
  );
}
