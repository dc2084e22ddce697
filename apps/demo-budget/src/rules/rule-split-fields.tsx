import type { ReactNode } from 'react';
import { CategorySelect } from '../entries/category-select.tsx';
import type { CategoryRow } from '../queries/categories.ts';
import { isSplit, type RulePart } from './rule-split.ts';

/** A part being edited, with the percentage as typed. The last part gets the rest: its percentage is ignored. */
export interface RulePartDraft {
  /** Identifies a draft while it is edited. */
  readonly key: string;
  readonly categoryId: string | null;
  readonly percent: string;
}

export interface RuleSplitFieldsProps {
  readonly parts: readonly RulePartDraft[];
  readonly categories: readonly CategoryRow[];
  /** Called with no parts to stop splitting. */
  readonly onChange: (parts: readonly RulePartDraft[]) => void;
}

/** The parts of a rule that splits entries: a category and a percentage each; the last one gets the rest. */
export function RuleSplitFields({ parts, categories, onChange }: RuleSplitFieldsProps): ReactNode {
  const set = (index: number, change: Partial<RulePartDraft>): void =>
    onChange(parts.map((part, at) => (at === index ? { ...part, ...change } : part)));
  return (
    <fieldset className="parts">
      <legend>Split into</legend>
      {parts.map((part, index) => (
        <div key={part.key} className="part rule-part">
          <CategorySelect
            categories={categories}
            value={part.categoryId}
            onChange={(categoryId) => set(index, { categoryId })}
            label={`Category of part ${index + 1}`}
          />
          {index === parts.length - 1 ? (
            <span className="hint">The rest</span>
          ) : (
            <span className="rule-percent">
              <input
                className="amount-input"
                aria-label={`Percentage of part ${index + 1}`}
                value={part.percent}
                onChange={(event) => set(index, { percent: event.target.value })}
                inputMode="decimal"
                autoComplete="off"
              />
              %
            </span>
          )}
          <button
            type="button"
            className="quiet"
            aria-label={`Remove part ${index + 1}`}
            onClick={() => onChange(parts.length === 2 ? [] : parts.filter((_, at) => at !== index))}
          >
            ×
          </button>
        </div>
      ))}
      <p className="parts-foot">
        <button
          type="button"
          className="quiet"
          onClick={() => onChange([...parts.slice(0, -1), newPart(), ...parts.slice(-1)])}
        >
          Add a part
        </button>
        <button type="button" className="quiet" onClick={() => onChange([])}>
          Do not split
        </button>
      </p>
    </fieldset>
  );
}

/** Two parts to fill in. */
export function newSplit(categoryId: string | null): RulePartDraft[] {
  return [{ ...newPart(), categoryId, percent: '50' }, newPart()];
}

export function splitDraftsOf(parts: readonly RulePart[]): RulePartDraft[] {
  return parts.map(({ categoryId, percent }) => ({
    key: crypto.randomUUID(),
    categoryId,
    percent: percent === null ? '' : String(percent),
  }));
}

/** The split of the drafts; undefined if a percentage is not valid, or if they leave nothing for the last part. */
export function splitOf(drafts: readonly RulePartDraft[]): RulePart[] | undefined {
  const parts = drafts.map(({ categoryId, percent }, index) => ({
    categoryId,
    percent: index === drafts.length - 1 ? null : percentOf(percent),
  }));
  return isSplit(parts) ? parts : undefined;
}

/** 0, which is not valid, if the text is not a percentage. */
function percentOf(text: string): number {
  const number = Number(text.trim().replace(',', '.'));
  return Number.isFinite(number) ? Math.round(number * 100) / 100 : 0;
}

function newPart(): RulePartDraft {
  return { key: crypto.randomUUID(), categoryId: null, percent: '' };
}
