import { useSyncExternalStore } from 'react';
import type { BudgetRole } from './budget.ts';
import { withDeviceItems } from './device-items.ts';
import { rememberBudget, type KnownBudget } from './known-budgets.ts';

/*
 * What this person may do in the open budget. The server decides at every message; this is for the app, so that it offers only what will be accepted. Kept with the
 * budget, as the app starts without a network too.
 */

let open: KnownBudget | null = null;
const listeners = new Set<() => void>();

/** At the start, with what the device remembers. */
export function beginRole(budget: KnownBudget): void {
  open = budget;
}

/** The server has said it, together with a token. */
export function learnRole(role: BudgetRole): void {
  if (open?.membership === undefined || open.membership.role === role) return;
  const budget = { ...open, membership: { ...open.membership, role } };
  open = budget;
  for (const listener of [...listeners]) listener();
  withDeviceItems((items) => rememberBudget(items, budget)).catch(reportError);
}

/** Whoever made the budget, or has the link of those who did, owns it. */
export function currentRole(): BudgetRole {
  return open?.membership?.role ?? 'owner';
}

export function useRole(): BudgetRole {
  return useSyncExternalStore(listen, currentRole);
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
