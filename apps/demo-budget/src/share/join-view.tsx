import { useState, type FormEvent, type ReactNode } from 'react';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { errorSentence } from '../shell/error-sentence.ts';
import { acceptInvitation } from './accept-invitation.ts';

export interface JoinViewProps {
  readonly code: string;
  /** Called when this device has stored the budget. */
  readonly onJoined: (budget: KnownBudget) => void;
}

/** Asks for confirmation before accepting an invitation, because it works only once. */
export function JoinView({ code, onJoined }: JoinViewProps): ReactNode {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [joining, setJoining] = useState(false);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    setJoining(true);
    acceptInvitation(code, name).then(onJoined, (error: unknown) => {
      setProblem(errorSentence(error));
      setJoining(false);
    });
  };

  return (
    <main className="unopened">
      <form className="card form" onSubmit={submit} aria-label="Join a budget">
        <h1>You are invited to a budget</h1>
        <p>The other members see this name.</p>
        <label>
          Your name
          <input
            value={name}
            maxLength={40}
            autoComplete="given-name"
            autoFocus
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        {problem !== null && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="buttons">
          <button type="submit" className="primary" disabled={joining || name.trim() === ''}>
            Join
          </button>
          <a className="button" href={location.pathname}>
            Not now
          </a>
        </div>
      </form>
    </main>
  );
}
