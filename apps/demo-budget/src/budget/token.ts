import { RockpoolError } from '@rockpool/client';
import { isBudgetRole } from './budget.ts';
import type { KnownBudget } from './known-budgets.ts';
import type { Access } from './role.ts';

/**
 * Exchanges the budget's share key for a short-lived token. A server that does not know the budget yet gets it
 * registered, when it was made on this device: the first key that a server hears for a budget is the one it trusts from
 * then on. `onAccess` gets the role of the key, which an owner may have
 * changed, or `removed` if the key of a member is no longer valid.
 *
 * Throws `RockpoolError`, so that the sync status can say why there is no sync:
 * - `network-unreachable`: the server cannot be reached, or has trouble (`status`)
 * - `database-unavailable`: the server does not know the budget (yet: the device that made it was never online)
 * - `auth-database-forbidden`: the share key is not the budget's
 */
export async function fetchToken(
  budget: KnownBudget,
  principal: string,
  name: string,
  onAccess: (access: Access) => void = () => {},
): Promise<string> {
  const first = await ask('/api/token', budget, principal, name);
  const response = first.status === 404 && budget.madeHere ? await ask('/api/budgets', budget, principal, name) : first;
  if (response.status === 403) {
    if (budget.membership !== undefined) onAccess('removed');
    throw new RockpoolError('auth-database-forbidden');
  }
  if (response.status === 404) throw new RockpoolError('database-unavailable', { problem: 'not registered' });
  if (!response.ok) throw new RockpoolError('network-unreachable', { stage: 'token', status: response.status });
  const { token, role } = (await response.json()) as { readonly token?: unknown; readonly role?: unknown };
  if (typeof token !== 'string')
    throw new RockpoolError('token-callback-failed', { problem: 'not a string', type: typeof token });
  if (isBudgetRole(role)) onAccess(role);
  return token;
}

async function ask(path: string, budget: KnownBudget, principal: string, name: string): Promise<Response> {
  const { databaseId, shareKey } = budget;
  const body = JSON.stringify({ databaseId, shareKey, principal, name });
  try {
    return await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  } catch (cause) {
    throw new RockpoolError('network-unreachable', { stage: 'token' }, { cause });
  }
}
