import { useClient } from '@rockpool/client/react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useView } from '../budget/view.ts';
import { setCategoryNote, setKeepsOverspent } from '../categories/actions.ts';
import { removeGoal, setGoal } from '../goals/actions.ts';
import { GoalForm } from '../goals/goal-form.tsx';
import type { GoalRow } from '../queries/goals.ts';
import { useSave } from '../shell/failure.tsx';
import { move } from './actions.ts';
import { EnvelopeNote } from './envelope-note.tsx';
import type { Envelope } from './envelopes.ts';
import { MoveForm } from './move-form.tsx';

const CategoryHistory = lazy(() => import('../history/category-history.tsx'));

export interface MoveBelowProps {
  readonly envelope: Envelope;
  /** Every envelope of the month. */
  readonly envelopes: readonly Envelope[];
  readonly currency: string;
  /** `YYYY-MM`. */
  readonly month: string;
  /** See `MoveForm`. */
  readonly inMonth: string;
  readonly onClose: () => void;
}

/** The form below an envelope that moves money and decides what happens to overspending. */
export function MoveBelow({ envelope, envelopes, currency, month, inMonth, onClose }: MoveBelowProps): ReactNode {
  const client = useClient();
  const save = useSave();
  return (
    <MoveForm
      envelope={envelope}
      envelopes={envelopes}
      currency={currency}
      inMonth={inMonth}
      onMove={(fromCategoryId, toCategoryId, amountMinor) =>
        save(
          () => move(client, { month, currency, categoryId: fromCategoryId, amountMinor }, toCategoryId),
          'Moved.',
          onClose,
        )
      }
      onKeepOverspent={() =>
        save(
          () => setKeepsOverspent(client, envelope.categoryId, !envelope.keepsOverspent),
          envelope.keepsOverspent
            ? `${envelope.name}: overspending is covered at the end of the month.`
            : `${envelope.name}: overspending carries over.`,
          onClose,
        )
      }
      onCancel={onClose}
    />
  );
}

export interface GoalBelowProps extends Omit<MoveBelowProps, 'envelopes' | 'inMonth'> {
  /** Undefined if the envelope has no goal. */
  readonly goal: GoalRow | undefined;
}

/** The form below an envelope with its note, goal and history. */
export function GoalBelow({ envelope, goal, currency, month, onClose }: GoalBelowProps): ReactNode {
  const client = useClient();
  const save = useSave();
  const saveNote = useSave();
  const view = useView();
  const [showsHistory, setShowsHistory] = useState(false);
  const { categoryId, name, note } = envelope;
  return (
    <>
      <EnvelopeNote
        name={name}
        note={note}
        onNote={(next, leave) => saveNote(() => setCategoryNote(client, categoryId, next), 'Note saved.', leave)}
      />
      <GoalForm
        categoryName={name}
        goal={goal}
        currency={currency}
        month={month}
        onSave={(changed, before) =>
          save(() => setGoal(client, { ...changed, currency, categoryId }, before), 'Goal saved.', onClose)
        }
        onRemove={() => save(() => removeGoal(client, categoryId, currency), 'Goal removed.', onClose)}
        onCancel={onClose}
      />
      {view === 'today' && (
        <details className="envelope-history" onToggle={({ currentTarget }) => setShowsHistory(currentTarget.open)}>
          <summary>History of {name}</summary>
          {showsHistory && (
            <Suspense>
              <CategoryHistory categoryId={categoryId} name={name} currency={currency} />
            </Suspense>
          )}
        </details>
      )}
    </>
  );
}
