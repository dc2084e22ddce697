import { planHistory, type Plan } from './operations.ts';
import { SIZES, type SizeName } from './sizes.ts';

/** A history that once failed, with as few steps as it needs. A file in regressions/ holds one. */
export interface Regression {
  readonly seed: number;
  readonly size: SizeName;
  /** The numbers of the steps to take; null: all. */
  readonly keep: readonly number[] | null;
  readonly why: string;
}

export function planRegression({ seed, size, keep }: Regression): Plan {
  const plan = planHistory(seed, SIZES[size]);
  return keep === null ? plan : { ...plan, operations: plan.operations.filter(({ number }) => keep.includes(number)) };
}
