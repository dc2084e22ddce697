import { useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { GoalLine } from '../goals/goal-line.tsx';
import type { GoalState } from '../goals/goal-state.ts';
import { decimalMarkOf, formatMinor, formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { GoalRow } from '../queries/goals.ts';
import { Amount } from '../shell/amount.tsx';
import { useSave } from '../shell/failure.tsx';
import { locale } from '../shell/locale.ts';
import type { Envelope } from './envelopes.ts';

export interface EnvelopeRowProps {
  readonly envelope: Envelope;
  readonly currency: string;
  /** Null if the envelope has no goal. */
  readonly goal: { readonly goal: GoalRow; readonly state: GoalState } | null;
  /**
   * Called with the amount to add to the assignment. Resolves when it is stored; until then the field shows the typed
   * value.
   */
  readonly onAssign: (amountMinor: number) => Promise<void>;
  readonly onMove: () => void;
  readonly onGoal: () => void;
}

/** One category of a month. The assigned amount is a field that saves the difference on blur or Enter. */
export function EnvelopeRow({ envelope, currency, goal, onAssign, onMove, onGoal }: EnvelopeRowProps): ReactNode {
  const save = useSave();
  const mayWrite = useMayWrite();
  const mark = decimalMarkOf(locale);
  const shown = formatMinorForEditing(envelope.assignedMinor, currency, mark);
  const [typed, setTyped] = useState<string | null>(null);
  const parsed = typed === null || typed.trim() === '' ? null : parseTypedAmount(typed, currency, mark);
  const wantedMinor = parsed === null ? 0n : parsed.ok ? BigInt(parsed.value) : null;

  const assignTyped = (): void => {
    if (typed === null || wantedMinor === null) return;
    const addedMinor = Number(wantedMinor - envelope.assignedMinor);
    save(
      () => onAssign(addedMinor),
      addedMinor === 0 ? '' : `${envelope.name}: assigned.`,
      () => setTyped((last) => (last === typed ? null : last)),
    );
  };

  return (
    <tr role="row" className={envelope.availableMinor < 0n ? 'overspent' : ''}>
      <th role="rowheader" scope="row">
        {mayWrite ? (
          <button
            type="button"
            className="quiet envelope-name"
            onClick={onGoal}
            aria-label={`Goal for ${envelope.name}`}
          >
            {envelope.name}
          </button>
        ) : (
          <span className="envelope-name">{envelope.name}</span>
        )}
        {envelope.note !== '' && <span className="notes">{envelope.note}</span>}
        {goal !== null && <GoalLine {...goal} currency={currency} />}
        {envelope.carriedMinor !== 0n && (
          <span className="notes">
            <Amount minor={envelope.carriedMinor} currency={currency} /> carried over
          </span>
        )}
      </th>
      <td role="cell" data-of="Assigned" className="number">
        {mayWrite ? (
          <input
            className="amount-input"
            aria-label={`Assigned to ${envelope.name}`}
            aria-invalid={wantedMinor === null}
            inputMode="decimal"
            autoComplete="off"
            value={typed ?? shown}
            onChange={(event) => setTyped(event.target.value)}
            onFocus={(event) => event.currentTarget.select()}
            onBlur={assignTyped}
            onKeyDown={(event) => {
              if (event.key === 'Enter') event.currentTarget.blur();
              if (event.key === 'Escape') setTyped(null);
            }}
          />
        ) : (
          <Amount minor={envelope.assignedMinor} currency={currency} />
        )}
      </td>
      <td role="cell" data-of="Spent" className="number">
        <Amount minor={envelope.spentMinor} currency={currency} />
      </td>
      <td role="cell" data-of="Available" className="number">
        {mayWrite ? (
          <button
            type="button"
            className="quiet available"
            onClick={onMove}
            aria-label={`${envelope.availableMinor < 0n ? 'Cover overspending in' : 'Move money from'} ${envelope.name}: ${formatMinor(envelope.availableMinor, currency, locale)}`}
          >
            <Amount minor={envelope.availableMinor} currency={currency} />
          </button>
        ) : (
          <span className="available">
            <Amount minor={envelope.availableMinor} currency={currency} />
          </span>
        )}
      </td>
    </tr>
  );
}
