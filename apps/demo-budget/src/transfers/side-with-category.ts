import type { AccountKind } from '../schema.ts';

/**
 * The side of a transfer that has a category, seen from one of its accounts: the on-budget side if the other is off
 * budget; otherwise neither.
 */
export function sideWithCategory(kind: AccountKind, otherKind: AccountKind): 'this' | 'other' | 'none' {
  if ((kind === 'off-budget') === (otherKind === 'off-budget')) return 'none';
  return kind === 'off-budget' ? 'other' : 'this';
}
