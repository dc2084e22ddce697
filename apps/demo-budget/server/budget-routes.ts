import { isDatabaseId, isShareKey, makeBudget } from '../src/budget/budget.ts';
import { isPersonName } from '../src/people/person-name.ts';
import type { Budgets } from './budgets.ts';

export interface BudgetRoutes {
  readonly budgets: Budgets;
  readonly issueToken: (wish: TokenWish) => Promise<string>;
}

/** A token that opens this one database. */
export interface TokenWish {
  readonly databaseId: string;
  readonly principal: string;
  /** What the others see; empty for nobody in particular. */
  readonly name: string;
}

/** An honest request is about 200 bytes. */
const maxBodyBytes = 1_024;

interface BudgetRequest extends TokenWish {
  readonly shareKey: string;
}

/**
 * `POST /api/budgets`: registers a budget that a browser has made (`databaseId`, `shareKey`), or makes one where the body is empty; answers
 * with both and a token. Doing it again changes nothing; with another key it is refused (403).
 *
 * `POST /api/token`: exchanges a budget's share key for a short-lived token. 404 for a budget that was never registered, 403 for a wrong key.
 *
 * Both take the name by which the device signs its changes as `principal`, and what its person is called, if they say so, as `name`. 400 for anything else.
 */
export async function answerBudgetRoute(request: Request, { budgets, issueToken }: BudgetRoutes): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (pathname !== '/api/budgets' && pathname !== '/api/token') return undefined;
  if (request.method !== 'POST') return problem(405, 'method-not-allowed');
  const text = await bodyText(request);
  if (text === undefined) return problem(413, 'request-too-large');
  const made = pathname === '/api/budgets' && text === '' ? { ...makeBudget(), principal: 'device', name: '' } : parseRequest(text);
  if (made === undefined) return problem(400, 'request-invalid');
  const { databaseId, shareKey, principal, name } = made;
  const standing = pathname === '/api/budgets' ? budgets.register(databaseId, shareKey) : budgets.check(databaseId, shareKey);
  if (standing === 'unknown') return problem(404, 'budget-unknown');
  if (standing === 'key-refused') return problem(403, 'key-refused');
  const token = await issueToken({ databaseId, principal, name });
  const body = pathname === '/api/budgets' ? { databaseId, shareKey, token } : { token };
  return Response.json(body, { status: standing === 'registered' ? 201 : 200, headers: { 'cache-control': 'no-store' } });
}

async function bodyText(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function parseRequest(text: string): BudgetRequest | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null) return undefined;
  const { databaseId, shareKey, principal, name = '' } = body as Partial<Record<keyof BudgetRequest, unknown>>;
  const named = typeof principal === 'string' && /^[a-z0-9-]{1,64}$/.test(principal);
  return isDatabaseId(databaseId) && isShareKey(shareKey) && named && isPersonName(name) ? { databaseId, shareKey, principal, name } : undefined;
}

function problem(status: number, code: string): Response {
  return Response.json({ code }, { status, headers: { 'cache-control': 'no-store' } });
}
