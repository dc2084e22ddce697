import type { Budget } from '../budget/budget.ts';
import type { Period } from './period.ts';

/** What every report is about. */
export interface ReportProps {
  readonly budget: Budget;
  /** Amounts of two currencies are never added. */
  readonly currency: string;
  readonly period: Period;
}
