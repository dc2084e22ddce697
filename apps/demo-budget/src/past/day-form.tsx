import { useState, type FormEvent, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { readView } from '../budget/view.ts';
import { today } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import './past.css';

export interface DayFormProps {
  readonly budget: Budget;
  /** The initial day, `YYYY-MM-DD`. */
  readonly day: string;
}

/** Chooses the day that the budget is shown as of. */
export function DayForm({ budget, day }: DayFormProps): ReactNode {
  const [chosen, setChosen] = useState(day);
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const view = readView(chosen);
    if (view === 'today') return setProblem('Enter a date.');
    if (chosen > today()) return setProblem('Choose a day that is not in the future.');
    location.hash = hashOf(budget, { page: 'envelopes', view });
  };
  return (
    <form className="day-form" onSubmit={submit} aria-label="Choose a day">
      <label>
        The budget as it was at the end of
        <input type="date" value={chosen} max={today()} required onChange={(event) => setChosen(event.target.value)} />
      </label>
      <button type="submit" className="primary">
        Show
      </button>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
