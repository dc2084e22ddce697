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
    // A tab with an older bundle sends only the access, as text.
    const message: unknown = typeof data === 'string' ? { access: data } : data;
    const { access, principal } = message as { readonly access?: unknown; readonly principal?: string };
    if (isBudgetRole(access) || access === 'removed') takeAccess(access, principal);
  });
}

/** The server's response to a token request: a role, or that the member was removed. */
export type Access = BudgetRole | 'removed';

/**
 * Stores the server's response and passes it to the other tabs. A device on which a member opened their personal link
 * learns from the principal that it is a member's.
 */
export function learnAccess(access: Access, principal?: string): void {
  const budget = takeAccess(access, principal);
  if (budget === null) return;
  otherTabs?.postMessage({ access, principal });
  // For tabs with an older bundle.
  otherTabs?.postMessage(access);
  withDeviceItems((items) => rememberBudget(items, budget)).catch(reportError);
}

/** Returns null if nothing changes, and for the budget's own key. */
function takeAccess(access: Access, ofKey: string | undefined): KnownBudget | null {
  if (open === null) return null;
  const { membership: before } = open;
  const principal = before?.principal ?? ofKey;
  const role = access === 'removed' ? before?.role : access;
  if (principal === undefined || role === undefined) return null;
  const isRemoved = access === 'removed';
  if ((before?.isRemoved ?? false) === isRemoved && before?.role === role) return null;
  open = { ...open, membership: isRemoved ? { principal, role, isRemoved } : { principal, role } };
  for (const listener of [...listeners]) listener();
  return open;
}

/** The open budget, with the user's current membership; null before `beginRole`. */
export function useOpenBudget(): KnownBudget | null {
  return useSyncExternalStore(listen, () => open);
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
