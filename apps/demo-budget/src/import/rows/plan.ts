import { fail, succeed, type Result } from '../../result.ts';
import type { ImportDraft, PreviewRow } from './preview.ts';

/** The rows that an import will write. */
export interface ImportPlan {
  /** In the order of the file. */
  readonly entries: readonly ImportDraft[];
  readonly duplicateCount: number;
  /** Omitted because the ledger has a similar entry. */
  readonly alikeCount: number;
  readonly skippedCount: number;
}

export type PlanProblem =
  | { readonly code: 'plan-unresolved'; readonly rowNumbers: readonly number[] }
  | { readonly code: 'plan-has-no-rows' };

/**
 * Decides what to write. While any row has a problem that the user has not skipped, there is no plan and nothing is
 * imported, because half a statement is worse than none. A possible duplicate is omitted unless the user keeps it.
 */
export function planImport(
  rows: readonly PreviewRow[],
  skippedRowNumbers: ReadonlySet<number>,
  keptRowNumbers: ReadonlySet<number> = new Set(),
): Result<ImportPlan, PlanProblem> {
  if (rows.length === 0) return fail({ code: 'plan-has-no-rows' });
  const kept = rows.filter((row) => !skippedRowNumbers.has(row.rowNumber));
  const unresolved = kept.filter((row) => row.problems.length > 0).map((row) => row.rowNumber);
  if (unresolved.length > 0) return fail({ code: 'plan-unresolved', rowNumbers: unresolved });
  const leftOut = (row: PreviewRow): boolean => row.alike !== null && !keptRowNumbers.has(row.rowNumber);
  const entries = kept.flatMap((row) => (row.draft === undefined || row.duplicate || leftOut(row) ? [] : [row.draft]));
  return succeed({
    entries,
    duplicateCount: kept.filter((row) => row.duplicate).length,
    alikeCount: kept.filter(leftOut).length,
    skippedCount: rows.length - kept.length,
  });
}

export function planProblemSentence(problem: PlanProblem): string {
  switch (problem.code) {
    case 'plan-has-no-rows':
      return 'The table in this file has no rows.';
    case 'plan-unresolved':
      return problem.rowNumbers.length === 1
        ? 'One row cannot be read. Change the settings above, or skip that row. Nothing is imported until then.'
        : `${problem.rowNumbers.length} rows cannot be read. Change the settings above, or skip these rows. Nothing is imported until then.`;
  }
}
