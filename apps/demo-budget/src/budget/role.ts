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
    if (isBudgetRole(data) || data === 'removed') takeAccess(data);
  });
}

/** What the server says when it is asked for a token: a role, or that the member was removed. */
export type Access = BudgetRole | 'removed';

/** Takes the answer of the server, keeps it, and passes it to the other tabs. */
export function learnAccess(access: Access): void {
  const budget = takeAccess(access);
  if (budget === null) return;
  otherTabs?.postMessage(access);
  withDeviceItems((items) => rememberBudget(items, budget)).catch(reportError);
}

/** Returns null if nothing changes, and for a budget that was not joined by invitation. */
function takeAccess(access: Access): KnownBudget | null {
  const membership = open?.membership;
  if (open === null || membership === undefined) return null;
  const isRemoved = access === 'removed';
  if ((membership.isRemoved ?? false) === isRemoved && (isRemoved || membership.role === access)) return null;
  const { principal, role } = membership;
  open = { ...open, membership: isRemoved ? { principal, role, isRemoved } : { principal, role: access } };
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

/** Whether an owner removed this person from the budget: changes can no longer be sent. */
export function useIsRemoved(): boolean {
  return useSyncExternalStore(listen, () => open?.membership?.isRemoved ?? false);
}

/** False for viewers and removed members: the app offers nothing that changes the budget. It can change at any time. */
export function useMayWrite(): boolean {
  const role = useRole();
  const isRemoved = useIsRemoved();
  return role !== 'viewer' && !isRemoved;
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
