import { isBudgetRole, isDatabaseId, isShareKey, makeBudget, type Budget, type BudgetRole } from './budget.ts';
import type { DeviceItems } from './device-items.ts';

/**
 * The budgets that this device knows, kept among its items, and the one that is open, kept in the page's address as
 * well, so that a bookmark or a second tab opens the same budget and the address can be passed on.
 */

const itemName = 'budgets';

export interface KnownBudget extends Budget {
  /** Made on this device, which therefore registers it with the server; otherwise it was opened by link. */
  readonly madeHere: boolean;
  /** Made up, to look around in; see sample/. */
  readonly isSample?: boolean;
  /** Only for who was invited: the key is one's own, and so is the name that changes are signed by. */
  readonly membership?: Membership;
}

export interface Membership {
  readonly principal: string;
  /** As the server said last. */
  readonly role: BudgetRole;
  /** An owner removed this member: the server takes and sends nothing more. */
  readonly isRemoved?: true;
}

/**
 * Reads the address and the items, and decides which budget to open: the linked one, else the last one, else a new one.
 */
export function currentBudget(hash: string, items: DeviceItems): KnownBudget {
  const known = knownBudgets(items);
  const linked = budgetOfHash(hash);
  const budget = (linked === undefined ? known[0] : openedBy(linked, known)) ?? { ...makeBudget(), madeHere: true };
  rememberBudget(items, budget);
  return budget;
}

/** A link to a budget that was created here cannot replace its key: the one kept here is the right one. */
function openedBy(linked: Budget, known: readonly KnownBudget[]): KnownBudget {
  const same = known.find(
    (budget) => budget.databaseId === linked.databaseId && (budget.madeHere || budget.shareKey === linked.shareKey),
  );
  return same ?? { ...linked, madeHere: false };
}

/** The device knows nothing of the budget any more. */
export function forgetBudget(items: DeviceItems, { databaseId }: Budget): void {
  items.setItem(itemName, JSON.stringify(knownBudgets(items).filter((budget) => budget.databaseId !== databaseId)));
}

/** The last opened one first. */
export function knownBudgets(items: DeviceItems): readonly KnownBudget[] {
  const stored: unknown = parseJson(items.getItem(itemName));
  if (!Array.isArray(stored)) return [];
  return stored.filter(isKnownBudget);
}

/**
 * Makes a budget on this device. Nothing is asked of the server until the budget is opened and the server can be
 * reached.
 */
export function addBudget(items: DeviceItems): KnownBudget {
  const budget: KnownBudget = { ...makeBudget(), madeHere: true };
  rememberBudget(items, budget);
  return budget;
}

/** Keeps a budget that one was let into, or what has changed about it, as the one to open next. */
export function rememberBudget(items: DeviceItems, budget: KnownBudget): void {
  const others = knownBudgets(items).filter((other) => other.databaseId !== budget.databaseId);
  items.setItem(itemName, JSON.stringify([budget, ...others]));
}

function budgetOfHash(hash: string): Budget | undefined {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const databaseId = params.get('budget');
  const shareKey = params.get('key');
  return isDatabaseId(databaseId) && isShareKey(shareKey) ? { databaseId, shareKey } : undefined;
}

function isKnownBudget(value: unknown): value is KnownBudget {
  if (typeof value !== 'object' || value === null) return false;
  const { databaseId, shareKey, madeHere, isSample, membership } = value as Partial<Record<keyof KnownBudget, unknown>>;
  return (
    isDatabaseId(databaseId) &&
    isShareKey(shareKey) &&
    typeof madeHere === 'boolean' &&
    (isSample === undefined || typeof isSample === 'boolean') &&
    (membership === undefined || isMembership(membership))
  );
}

function isMembership(value: unknown): value is Membership {
  if (typeof value !== 'object' || value === null) return false;
  const { principal, role, isRemoved } = value as Partial<Record<keyof Membership, unknown>>;
  return typeof principal === 'string' && isBudgetRole(role) && (isRemoved === undefined || isRemoved === true);
}

function parseJson(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Someone else's text under our name: the same as nothing.
    return undefined;
  }
}
