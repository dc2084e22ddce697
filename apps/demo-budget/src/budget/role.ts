import { useSyncExternalStore } from 'react';
import { isBudgetRole, type BudgetRole } from './budget.ts';
import { withDeviceItems } from './device-items.ts';
import { rememberBudget, type KnownBudget } from './known-budgets.ts';

/*
 * What this person may do in the open budget. The server decides at every message; this is for the app, so that it
 * offers only what will be accepted. Kept with the budget, as the app starts without a network too.
 */

let open: KnownBudget | null = null;
let otherTabs: BroadcastChannel | null = null;
const listeners = new Set<() => void>();

/** At the start, with what the device remembers. One tab asks for tokens; the others hear of a new role from it. */
export function beginRole(budget: KnownBudget): void {
  open = budget;
  otherTabs = new BroadcastChannel(`role-${budget.databaseId}`);
  otherTabs.addEventListener('message', ({ data }) => {
    if (isBudgetRole(data)) takeRole(data);
  });
}

/** The server has said it, together with a token. */
export function learnRole(role: BudgetRole): void {
  const budget = takeRole(role);
  if (budget === null) return;
  otherTabs?.postMessage(role);
  withDeviceItems((items) => rememberBudget(items, budget)).catch(reportError);
}

/** Null where it is no news. */
function takeRole(role: BudgetRole): KnownBudget | null {
  if (open?.membership === undefined || open.membership.role === role) return null;
  open = { ...open, membership: { ...open.membership, role } };
  for (const listener of [...listeners]) listener();
  return open;
}

/** Whoever made the budget, or has the link of those who did, owns it. */
function currentRole(): BudgetRole {
  return open?.membership?.role ?? 'owner';
}

export function useRole(): BudgetRole {
  return useSyncExternalStore(listen, currentRole);
}

/**
 * False for whoever may only look: then nothing is offered that would change the budget. It may change while one looks.
 */
export function useMayWrite(): boolean {
  return useRole() !== 'viewer';
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
