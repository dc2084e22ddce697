import type { Budget } from '../budget/budget.ts';
import type { Period } from './period.ts';

/** The props that every report takes. */
export interface ReportProps {
  readonly budget: Budget;
  /** Amounts of different currencies are never added. */
  readonly currency: string;
  readonly period: Period;
}
