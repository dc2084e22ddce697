import type { ReactNode } from 'react';
import { CategorySelect } from '../entries/category-select.tsx';
import { formatMinor } from '../money/format.ts';
import type { CategoryRow } from '../queries/categories.ts';
import { locale } from '../shell/locale.ts';
import type { PartDraft } from './part-draft.ts';

export interface PartsFieldsProps {
  readonly parts: readonly PartDraft[];
  readonly categories: readonly CategoryRow[];
  readonly currency: string;
  /** The remainder that the parts leave; undefined while an amount is unreadable. */
  readonly restMinor: bigint | undefined;
  readonly onChange: (parts: readonly PartDraft[]) => void;
  readonly onAdd: () => void;
}

/** The parts of a split entry: a category and an amount each, and the remainder to assign. */
export function PartsFields({ parts, categories, currency, restMinor, onChange, onAdd }: PartsFieldsProps): ReactNode {
  const set = (index: number, change: Partial<PartDraft>): void =>
    onChange(parts.map((part, at) => (at === index ? { ...part, ...change } : part)));
  return (
    <fieldset className="parts">
      <legend>Split into</legend>
      {parts.map((part, index) => (
        <div key={part.key} className="part">
          <CategorySelect
            categories={categories}
            value={part.categoryId}
            onChange={(categoryId) => set(index, { categoryId })}
            label={`Category of part ${index + 1}`}
          />
          <input
            className="part-notes"
            aria-label={`Memo of part ${index + 1}`}
            placeholder="Memo"
            value={part.notes}
            onChange={(event) => set(index, { notes: event.target.value })}
            autoComplete="off"
          />
          <input
            className="amount-input"
            aria-label={`Amount of part ${index + 1}`}
            value={part.amount}
            onChange={(event) => set(index, { amount: event.target.value })}
            inputMode="decimal"
            autoComplete="off"
          />
          <button
            type="button"
            className="quiet"
            aria-label={`Remove part ${index + 1}`}
            onClick={() => onChange(parts.filter((_, at) => at !== index))}
          >
            ×
          </button>
        </div>
      ))}
      <p className="parts-foot">
        <button type="button" className="quiet" onClick={onAdd}>
          Add a part
        </button>
        <span className={restMinor === 0n ? 'hint' : 'parts-rest'} role="status">
          {restSentence(restMinor, currency)}
        </span>
      </p>
    </fieldset>
  );
}

function restSentence(restMinor: bigint | undefined, currency: string): string {
  if (restMinor === undefined) return 'One of the amounts is not valid.';
  if (restMinor === 0n) return 'The parts add up.';
  return restMinor > 0n
    ? `${formatMinor(restMinor, currency, locale)} left to assign`
    : `${formatMinor(-restMinor, currency, locale)} too much`;
}
