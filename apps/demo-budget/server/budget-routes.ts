import type { Role } from '@rockpool/sync-server';
import { isDatabaseId, isShareKey, makeBudget } from '../src/budget/budget.ts';
import { isPersonName } from '../src/people/person-name.ts';
import { bodyText, parseObject, problem } from './body.ts';
import type { Budgets } from './budgets.ts';
import type { Person } from './people.ts';

export interface BudgetRoutes {
  readonly budgets: Budgets;
  readonly issueToken: (wish: TokenWish) => Promise<string>;
  readonly rememberAuthor: (databaseId: string, principal: string, name: string) => void;
  /** The access that a key grants; see people-routes.ts. */
  readonly roleOfKey: (
    databaseId: string,
    key: string,
  ) => { readonly role: Role; readonly person: Person | undefined } | undefined;
}

/** A token for this one database. */
export interface TokenWish {
  readonly databaseId: string;
  readonly principal: string;
  /** The name shown to other users; empty if none was given. */
  readonly name: string;
  readonly role: Role;
}

interface BudgetRequest extends Omit<TokenWish, 'role'> {
  readonly shareKey: string;
}

/**
 * `POST /api/budgets`: registers a budget that a browser created (`databaseId`, `shareKey`), or creates one if the body
 * is empty; responds with both and a token. Repeating the request changes nothing; a different key is refused (403).
 *
 * `POST /api/token`: exchanges a budget's share key, or an invited member's key, for a short-lived token, and returns
 * the member's `role` and `principal`. 404 for an unregistered budget, 403 for a wrong key.
 *
 * Both take `principal`, the name under which the device authors changes, and optionally `name`, the user's display
 * name. With the budget's own key, the principal is that of a device, which nothing proves: everyone with this key owns
 * the budget. Any other principal is refused (403), so that nobody writes in the name of an invited member. 400 for any
 * other request.
 */
export async function answerBudgetRoute(
  request: Request,
  { budgets, issueToken, rememberAuthor, roleOfKey }: BudgetRoutes,
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
  if (person === undefined && !isDevice(principal)) return problem(403, 'principal-refused');
  // Invited members author changes under the principal that holds their role, even if the device sends a different
  // principal.
  const author = person?.principal ?? principal;
  if (name !== '') rememberAuthor(databaseId, author, name);
  const token = await issueToken({ databaseId, principal: author, name, role });
  const access = { token, role, ...(person === undefined ? {} : { principal: author }) };
  const body = pathname === '/api/budgets' ? { databaseId, shareKey, ...access } : access;
  return Response.json(body, {
    status: standing === 'registered' ? 201 : 200,
    headers: { 'cache-control': 'no-store' },
  });
}

/** Whether a principal is that of a device instead of a member; see src/budget/device.ts. */
function isDevice(principal: string): boolean {
  return /^device(-|$)/.test(principal);
}

function parseRequest(text: string): BudgetRequest | undefined {
  const { databaseId, shareKey, principal, name = '' } = parseObject(text) ?? {};
  const named = typeof principal === 'string' && /^[a-z0-9-]{1,64}$/.test(principal);
  return isDatabaseId(databaseId) && isShareKey(shareKey) && named && isPersonName(name)
    ? { databaseId, shareKey, principal, name }
    : undefined;
}
