import type { ReactNode } from 'react';
import type { Result } from '../result.ts';
import { locale } from '../shell/locale.ts';
import { planProblemSentence, type ImportPlan, type PlanProblem } from './rows/plan.ts';

export interface ImportSummaryProps {
  /** The date and amount columns are chosen. */
  readonly complete: boolean;
  /** A question is open, such as the order of dates. */
  readonly open: boolean;
  readonly plan: Result<ImportPlan, PlanProblem> | null;
  readonly onSkipTroubled: (rowNumbers: readonly number[]) => void;
  readonly onImport: () => void;
  readonly onCancel: () => void;
}

/** The effect of an import in numbers, and the button that runs it. */
export function ImportSummary({
  complete,
  open,
  plan,
  onSkipTroubled,
  onImport,
  onCancel,
}: ImportSummaryProps): ReactNode {
  const unresolved =
    plan !== null && !plan.ok && plan.problem.code === 'plan-unresolved' ? plan.problem.rowNumbers : [];
  const newCount = plan?.ok === true ? plan.value.entries.length : 0;
  return (
    <section className="import-summary" aria-label="Import">
      <div className="summary-words" role="status">
        {!complete && <p className="problem">Choose the date and amount columns.</p>}
        {plan !== null && !plan.ok && <p className="problem">{planProblemSentence(plan.problem)}</p>}
        {plan?.ok === true && <p>{planWords(plan.value)}</p>}
      </div>
      <div className="buttons">
        {unresolved.length > 0 && (
          <button type="button" onClick={() => onSkipTroubled(unresolved)}>
            Skip {unresolved.length === 1 ? 'this row' : `these ${unresolved.length} rows`}
          </button>
        )}
        <button type="button" className="primary" disabled={open || newCount === 0} onClick={onImport}>
          {newCount === 1 ? 'Import 1 entry' : `Import ${newCount.toLocaleString(locale)} entries`}
        </button>
        <button type="button" onClick={onCancel}>
          Another file
        </button>
      </div>
    </section>
  );
}

function planWords({ entries, duplicateCount, alikeCount, skippedCount }: ImportPlan): string {
  if (entries.length === 0 && duplicateCount > 0 && skippedCount + alikeCount === 0)
    return `Nothing new: ${duplicateCount === 1 ? 'the one row is' : `all ${duplicateCount.toLocaleString(locale)} rows are`} already imported.`;
  const words = [entries.length === 1 ? '1 new entry' : `${entries.length.toLocaleString(locale)} new entries`];
  if (duplicateCount > 0)
    words.push(
      duplicateCount === 1 ? '1 already imported' : `${duplicateCount.toLocaleString(locale)} already imported`,
    );
  if (alikeCount > 0) words.push(alikeCount === 1 ? '1 possible duplicate' : `${alikeCount} possible duplicates`);
  if (skippedCount > 0) words.push(`${skippedCount} skipped`);
  return `${words.join(', ')}.`;
}
