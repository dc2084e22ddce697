import { RockpoolError } from '@rockpool/client';
import { isBudgetRole } from './budget.ts';
import type { KnownBudget } from './known-budgets.ts';
import type { Access } from './role.ts';

/**
 * Exchanges the budget's share key for a short-lived token. The device that created the budget registers it with the
 * same request, each time: the server trusts the first key it receives for a budget, and repeating changes nothing.
 *
 * `onAccess` receives the key's role, which an owner may have changed, and the principal of a member's key; or
 * `removed` if the key is not valid or no longer valid.
 *
 * Throws `RockpoolError`, so that the sync status can show the reason:
 * - `network-unreachable`: the server cannot be reached or failed (`status`)
 * - `database-unavailable`: the server does not know the budget, because the device that created it has never been
 *   online
 * - `auth-database-forbidden`: the share key is not the budget's
 */
export async function fetchToken(
  budget: KnownBudget,
  principal: string,
  name: string,
  onAccess: (access: Access, principal?: string) => void = () => {},
): Promise<string> {
  const response = await ask(budget.madeHere ? '/api/budgets' : '/api/token', budget, principal, name);
  if (response.status === 403) {
    onAccess('removed');
    throw new RockpoolError('auth-database-forbidden');
  }
  if (response.status === 404)
    throw new RockpoolError('database-unavailable', { problem: 'the budget is not registered' });
  if (!response.ok) throw new RockpoolError('network-unreachable', { stage: 'token', status: response.status });
  const {
    token,
    role,
    principal: ofKey,
  } = (await response.json()) as {
    readonly token?: unknown;
    readonly role?: unknown;
    readonly principal?: unknown;
  };
  if (typeof token !== 'string')
    throw new RockpoolError('token-callback-failed', { problem: 'token: must be a string', type: typeof token });
  if (isBudgetRole(role)) onAccess(role, typeof ofKey === 'string' ? ofKey : undefined);
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
