import type { AccountKind } from '../schema.ts';

/**
 * Which side of a transfer has a category, seen from one of its accounts: the one in the budget, where the other is off
 * budget; else neither.
 */
export function sideWithCategory(kind: AccountKind, otherKind: AccountKind): 'this' | 'other' | 'none' {
  if ((kind === 'off-budget') === (otherKind === 'off-budget')) return 'none';
  return kind === 'off-budget' ? 'other' : 'this';
}
