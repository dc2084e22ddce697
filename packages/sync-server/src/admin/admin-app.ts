import { Hono, type Context } from 'hono';
import { RockpoolError } from '@rockpool/shared';
import type { AddressOf } from '../auth/client-address.ts';
import { isDatabaseId } from '../auth/gate.ts';
import { bearerToken, isOperatorToken } from '../auth/operator-token.ts';
import { isOriginAllowed } from '../auth/origin.ts';
import { errorFields, type LogFields, type Logger } from '../observe/log-line.ts';
import type { ServerMetrics } from '../observe/server-metrics.ts';
import { errorResponse } from '../routes/error-response.ts';
import { withoutUnreadBody } from '../routes/head.ts';
import { remoteAddress } from '../routes/remote-address.ts';
import { serveAdminPage } from './admin-page.ts';
import { AdminRefusal } from './admin-refusal.ts';
import type { AdminRoute, AdminServices } from './admin-route.ts';
import { databaseBackups } from './database-backups.ts';
import { inspectDatabase } from './database-details.ts';
import { listDatabases } from './database-list.ts';
import {
  closeDatabase,
  createDatabase,
  deleteDatabase,
  drainDatabase,
  exportDatabase,
  importDatabase,
  restoreBackup,
  restoreDatabase,
  openDatabase,
  replaceDatabase,
} from './lifecycle-routes.ts';
import { readmit, revokeEverywhere, revokeMember, setMember, withdrawInvitation } from './member-routes.ts';

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  listDatabases,
  inspectDatabase,
  databaseBackups,
  createDatabase,
  deleteDatabase,
  closeDatabase,
  drainDatabase,
  openDatabase,
  exportDatabase,
  importDatabase,
  restoreDatabase,
  restoreBackup,
  replaceDatabase,
  setMember,
  revokeMember,
  withdrawInvitation,
  revokeEverywhere,
  readmit,
];

export interface AdminAppOptions {
  readonly token: string;
  readonly services: AdminServices;
  readonly addressOf: AddressOf;
  readonly metrics: ServerMetrics;
  readonly log: Logger;
}

/** The API for operators, protected by one token, and the page that uses it. Logs a line for each request. */
export function createAdminApp(options: AdminAppOptions): Hono {
  const app = new Hono();
  app.use('*', async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) context.res.headers.set(name, value);
  });
  app.use('/api/*', async (context, next) => {
    const problem = refusalOf(context, options.token);
    if (problem === null) return next();
    options.log('admin-refused', { method: context.req.method, code: problem, address: addressOf(context, options) });
    options.metrics.requests.add(1, { route: 'admin', status: problem === 'auth-origin-refused' ? '403' : '401' });
    return errorResponse(new RockpoolError(problem));
  });
  for (const route of ADMIN_ROUTES)
    app.on(route.method, `/api${route.path}`, (context) => answer(route, context, options));
  for (const path of new Set(ADMIN_ROUTES.map((route) => route.path))) app.all(`/api${path}`, methodNotAllowed(path));
  serveAdminPage(app);
  app.all('*', () => new Response(null, { status: 404 }));
  return app;
}

/** The page loads nothing from elsewhere, runs no inline script, and cannot be framed. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * A second line of defence: a browser never adds the token by itself, so a page of a different origin cannot send it.
 */
function refusalOf({ req }: Context, token: string): 'auth-origin-refused' | 'auth-token-invalid' | null {
  if (!isOriginAllowed(req.header('origin'), req.header('host'), [])) return 'auth-origin-refused';
  return isOperatorToken(bearerToken(req.header('authorization')), token) ? null : 'auth-token-invalid';
}

function addressOf(context: Context, options: AdminAppOptions): string | null {
  return options.addressOf(remoteAddress(context), context.req.header('x-forwarded-for'));
}

async function answer(route: AdminRoute, context: Context, options: AdminAppOptions): Promise<Response> {
  const { log, metrics, services } = options;
  const name = `${route.method} ${route.path}`;
  const startedMs = performance.now();
  let notes: LogFields = {};
  const { response, failure } = await respond(route, context, services, (fields) => (notes = { ...notes, ...fields }));
  const databaseId = context.req.param('databaseId') ?? '';
  log('admin-request', {
    route: name,
    // An invalid id is text from the client and is not logged.
    ...(isDatabaseId(databaseId) && { database: databaseId }),
    status: response.status,
    ...failure,
    ...notes,
    address: addressOf(context, options),
    durationMs: Math.round(performance.now() - startedMs),
  });
  metrics.requests.add(1, { route: `admin ${name}`, status: String(response.status) });
  return withoutUnreadBody(response, context.req.method);
}

async function respond(
  route: AdminRoute,
  context: Context,
  services: AdminServices,
  note: (fields: LogFields) => void,
): Promise<{ readonly response: Response; readonly failure: LogFields }> {
  try {
    const databaseId = context.req.param('databaseId') ?? '';
    if (route.path.includes(':databaseId') && !isDatabaseId(databaseId))
      throw new RockpoolError('request-invalid', {
        problem: 'a database id must consist of 1 to 64 letters, digits, _ or -',
      });
    const response = await route.answer({
      services,
      databaseId,
      param: (name) => context.req.param(name) ?? '',
      request: context.req.raw,
      note,
    });
    return { response, failure: {} };
  } catch (thrown) {
    if (!(thrown instanceof AdminRefusal)) return { response: errorResponse(thrown), failure: errorFields(thrown) };
    return {
      response: Response.json(thrown.error.toData(), { status: thrown.status }),
      failure: { code: thrown.error.code, ...thrown.error.fields } as LogFields,
    };
  }
}

function methodNotAllowed(path: string): () => Response {
  const allow = ADMIN_ROUTES.filter((route) => route.path === path)
    .map(({ method }) => method)
    .join(', ');
  return () => new Response(null, { status: 405, headers: { allow } });
}
