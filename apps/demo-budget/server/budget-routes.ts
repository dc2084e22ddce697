import type { Role } from '@rockpool/sync-server';
import { isDatabaseId, isShareKey, makeBudget } from '../src/budget/budget.ts';
import { isPersonName } from '../src/people/person-name.ts';
import { bodyText, parseObject, problem } from './body.ts';
import type { Budgets } from './budgets.ts';
import type { Person } from './people.ts';

export interface BudgetRoutes {
  readonly budgets: Budgets;
  readonly issueToken: (wish: TokenWish) => Promise<string>;
  /** What somebody may do who brings a key; see people-routes.ts. */
  readonly roleOfKey: (
    databaseId: string,
    key: string,
  ) => { readonly role: Role; readonly person: Person | undefined } | undefined;
}

/** A token that opens this one database. */
export interface TokenWish {
  readonly databaseId: string;
  readonly principal: string;
  /** What the others see; empty for nobody in particular. */
  readonly name: string;
  readonly role: Role;
}

interface BudgetRequest extends Omit<TokenWish, 'role'> {
  readonly shareKey: string;
}

/**
 * `POST /api/budgets`: registers a budget that a browser has made (`databaseId`, `shareKey`), or makes one where the
 * body is empty; answers with both and a token. Doing it again changes nothing; with another key it is refused (403).
 *
 * `POST /api/token`: exchanges a budget's share key, or the key of somebody who was invited, for a short-lived token,
 * and says their `role`. 404 for a budget that was never registered, 403 for a wrong key.
 *
 * Both take the name by which the device signs its changes as `principal`, and what its person is called, if they say
 * so, as `name`. 400 for anything else.
 */
export async function answerBudgetRoute(
  request: Request,
  { budgets, issueToken, roleOfKey }: BudgetRoutes,
): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (pathname !== '/api/budgets' && pathname !== '/api/token') return undefined;
  if (request.method !== 'POST') return problem(405, 'method-not-allowed');
  const text = await bodyText(request);
  if (text === undefined) return problem(413, 'request-too-large');
  const made =
    pathname === '/api/budgets' && text === ''
      ? { ...makeBudget(), principal: 'device', name: '' }
      : parseRequest(text);
  if (made === undefined) return problem(400, 'request-invalid');
  const { databaseId, shareKey, principal, name } = made;
  const standing =
    pathname === '/api/budgets' ? budgets.register(databaseId, shareKey) : budgets.check(databaseId, shareKey);
  if (standing === 'unknown') return problem(404, 'budget-unknown');
  const bearer = roleOfKey(databaseId, shareKey);
  if (bearer === undefined) return problem(403, 'key-refused');
  const { role, person } = bearer;
  // Who was invited signs changes by the name that the role belongs to, whatever the device calls itself.
  const token = await issueToken({ databaseId, principal: person?.principal ?? principal, name, role });
  const body = pathname === '/api/budgets' ? { databaseId, shareKey, token, role } : { token, role };
  return Response.json(body, {
    status: standing === 'registered' ? 201 : 200,
    headers: { 'cache-control': 'no-store' },
  });
}

function parseRequest(text: string): BudgetRequest | undefined {
  const { databaseId, shareKey, principal, name = '' } = parseObject(text) ?? {};
  const named = typeof principal === 'string' && /^[a-z0-9-]{1,64}$/.test(principal);
  return isDatabaseId(databaseId) && isShareKey(shareKey) && named && isPersonName(name)
    ? { databaseId, shareKey, principal, name }
    : undefined;
}
