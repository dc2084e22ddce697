import { useSyncExternalStore } from 'react';
import { isBudgetRole, type BudgetRole } from './budget.ts';
import { withDeviceItems } from './device-items.ts';
import { rememberBudget, type KnownBudget } from './known-budgets.ts';
import { useView } from './view.ts';

/*
 * The user's role in the open budget. The server checks every message; the app uses the role to offer only actions that
 * will be accepted. It is stored with the budget, because the app also starts offline.
 */

let open: KnownBudget | null = null;
let otherTabs: BroadcastChannel | null = null;
const listeners = new Set<() => void>();

/** Sets the stored role at startup. One tab requests tokens; the others receive a new role from that tab. */
export function beginRole(budget: KnownBudget): void {
  open = budget;
  otherTabs = new BroadcastChannel(`role-${budget.databaseId}`);
  otherTabs.addEventListener('message', ({ data }) => {
    if (isBudgetRole(data) || data === 'removed') takeAccess(data);
  });
}

/** The server's response to a token request: a role, or that the member was removed. */
export type Access = BudgetRole | 'removed';

/** Stores the server's response and passes it to the other tabs. */
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

/** The budget's creator is an owner, and so is anyone with the creator's link. */
function currentRole(): BudgetRole {
  return open?.membership?.role ?? 'owner';
}

export function useRole(): BudgetRole {
  return useSyncExternalStore(listen, currentRole);
}

/** Whether an owner removed this user from the budget: changes can no longer be sent. */
export function useIsRemoved(): boolean {
  return useSyncExternalStore(listen, () => open?.membership?.isRemoved ?? false);
}

/**
 * Whether the state of the budget that is shown can be changed. False for viewers and removed members, and for a past
 * state: the app then offers no action that changes the budget. Anyone may change a what-if, which stays on this
 * device. The value can change at any time.
 */
export function useMayWrite(): boolean {
  const mayChangeBudget = useMayChangeBudget();
  const view = useView();
  return view === 'today' ? mayChangeBudget : view === 'what-if';
}

/** Whether the user may change today's budget. */
export function useMayChangeBudget(): boolean {
  const role = useRole();
  const isRemoved = useIsRemoved();
  return role !== 'viewer' && !isRemoved;
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
