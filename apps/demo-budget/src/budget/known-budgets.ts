import { isBudgetRole, isDatabaseId, isShareKey, makeBudget, type Budget, type BudgetRole } from './budget.ts';
import type { DeviceItems } from './device-items.ts';

/**
 * The budgets that this device knows, kept among its items, and the open budget. The open budget is also kept in the
 * page's address, so that a bookmark or a second tab opens the same budget and the address can be shared.
 */

const itemName = 'budgets';

export interface KnownBudget extends Budget {
  /**
   * True if this device created the budget, and therefore registers it with the server; false if it was opened by link.
   */
  readonly madeHere: boolean;
  /** The budget's name when it was last open here. */
  readonly name?: string;
  /** The sample budget; see sample/. */
  readonly isSample?: boolean;
  /** Set for invited members only: they have their own key and author changes under their own principal. */
  readonly membership?: Membership;
}

export interface Membership {
  readonly principal: string;
  /** The role in the server's latest response. */
  readonly role: BudgetRole;
  /** An owner removed this member: the server accepts and sends nothing. */
  readonly isRemoved?: true;
}

/**
 * Reads the address and the items, and chooses the budget to open: the linked one, otherwise the last one, otherwise a
 * new one.
 */
export function currentBudget(hash: string, items: DeviceItems): KnownBudget {
  const known = knownBudgets(items);
  const linked = budgetOfHash(hash);
  const budget = (linked === undefined ? known[0] : openedBy(linked, known)) ?? { ...makeBudget(), madeHere: true };
  rememberBudget(items, budget);
  return budget;
}

/** A link to a budget that was created here cannot replace its key, because the stored key is the valid one. */
function openedBy(linked: Budget, known: readonly KnownBudget[]): KnownBudget {
  const same = known.find(
    (budget) => budget.databaseId === linked.databaseId && (budget.madeHere || budget.shareKey === linked.shareKey),
  );
  return same ?? { ...linked, madeHere: false };
}

/** Keeps the name of a budget for the list of budgets, without changing which one opens next. */
export function rememberBudgetName(items: DeviceItems, { databaseId }: Budget, name: string): void {
  const renamed = knownBudgets(items).map((budget) =>
    budget.databaseId === databaseId ? { ...budget, name } : budget,
  );
  items.setItem(itemName, JSON.stringify(renamed));
}

/** Removes the budget from this device's list. */
export function forgetBudget(items: DeviceItems, { databaseId }: Budget): void {
  items.setItem(itemName, JSON.stringify(knownBudgets(items).filter((budget) => budget.databaseId !== databaseId)));
}

/** Most recently opened first. */
export function knownBudgets(items: DeviceItems): readonly KnownBudget[] {
  const stored: unknown = parseJson(items.getItem(itemName));
  if (!Array.isArray(stored)) return [];
  return stored.filter(isKnownBudget);
}

/**
 * Creates a budget on this device. The server is contacted only once the budget is opened and the network is available.
 */
export function addBudget(items: DeviceItems): KnownBudget {
  const budget: KnownBudget = { ...makeBudget(), madeHere: true };
  rememberBudget(items, budget);
  return budget;
}

/** Stores a budget, or changes to it, and makes it the next one to open. */
export function rememberBudget(items: DeviceItems, budget: KnownBudget): void {
  const others = knownBudgets(items).filter((other) => other.databaseId !== budget.databaseId);
  items.setItem(itemName, JSON.stringify([budget, ...others]));
}

/**
 * Stores a budget that the user joined by invitation, and makes it the next one to open. Returns the budget to open: a
 * budget that was created here keeps its own key, which is the owner's and could not be recovered.
 */
export function rememberJoined(items: DeviceItems, joined: KnownBudget): KnownBudget {
  const own = knownBudgets(items).find(({ databaseId, madeHere }) => madeHere && databaseId === joined.databaseId);
  const opened = own ?? joined;
  rememberBudget(items, opened);
  return opened;
}

function budgetOfHash(hash: string): Budget | undefined {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const databaseId = params.get('budget');
  const shareKey = params.get('key');
  return isDatabaseId(databaseId) && isShareKey(shareKey) ? { databaseId, shareKey } : undefined;
}

function isKnownBudget(value: unknown): value is KnownBudget {
  if (typeof value !== 'object' || value === null) return false;
  const { databaseId, shareKey, madeHere, isSample, membership, name } = value as Partial<
    Record<keyof KnownBudget, unknown>
  >;
  return (
    isDatabaseId(databaseId) &&
    isShareKey(shareKey) &&
    typeof madeHere === 'boolean' &&
    (name === undefined || typeof name === 'string') &&
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
    // Text that other code has stored under this name is ignored.
    return undefined;
  }
}
