import { Hono, type Context } from 'hono';
import { cors } from 'hono/cors';
import { RockpoolError } from '@rockpool/shared';
import type { AddressOf } from '../auth/client-address.ts';
import type { Gate } from '../auth/gate.ts';
import { bearerToken } from '../auth/operator-token.ts';
import { isOriginAllowed, loggedOrigin } from '../auth/origin.ts';
import type { Principal } from '../auth/principal.ts';
import { errorFields, refusalFields, type Logger } from '../observe/log-line.ts';
import type { ServerMetrics } from '../observe/server-metrics.ts';
import { errorResponse } from '../routes/error-response.ts';
import { withoutUnreadBody } from '../routes/head.ts';
import { history, pastState, rowAtVersion, writtenRows } from '../routes/history.ts';
import { acceptInvitation, invite, listInvitations, withdrawInvitation } from '../routes/invitations.ts';
import { listMembers, revokeMember, setMember } from '../routes/members.ts';
import { health, metrics, ready } from '../routes/probes.ts';
import { remoteAddress } from '../routes/remote-address.ts';
import { leaveSession, openSession, pollFrames, sendFrames } from '../routes/sessions.ts';
import { snapshot, SNAPSHOT_HEADERS } from '../routes/snapshot.ts';
import { ANONYMOUS, type Route, type Services } from '../routes/route.ts';

/**
 * Every plain HTTP route of the server. Sync runs over WebSockets (session/accept-sockets.ts), and over these routes
 * only where WebSockets are blocked.
 */
export const ROUTES: readonly Route[] = [
  openSession,
  sendFrames,
  pollFrames,
  leaveSession,
  health,
  ready,
  metrics,
  listMembers,
  setMember,
  revokeMember,
  snapshot,
  history,
  rowAtVersion,
  pastState,
  writtenRows,
  invite,
  listInvitations,
  withdrawInvitation,
  acceptInvitation,
];

export interface AppOptions {
  readonly gate: Gate;
  readonly services: Services;
  readonly metrics: ServerMetrics;
  readonly origins: readonly string[];
  readonly addressOf: AddressOf;
  readonly log: Logger;
}

export function createApp(options: AppOptions): Hono {
  const app = new Hono();
  const isAllowed = (origin: string | undefined, context: Context): boolean =>
    isOriginAllowed(origin, context.req.header('host'), options.origins);
  app.use(async (context, next) => {
    if (isAllowed(context.req.header('origin'), context)) return next();
    options.log('origin-refused', {
      origin: loggedOrigin(context.req.header('origin')),
      address: options.addressOf(remoteAddress(context), context.req.header('x-forwarded-for')),
    });
    return errorResponse(new RockpoolError('auth-origin-refused'));
  });
  // A page sets the token's header itself. Without cookies, a page of another origin cannot act for the user.
  app.use(
    cors({
      origin: (origin, context) => (isAllowed(origin, context) ? origin : null),
      allowHeaders: ['authorization', 'content-type', 'range', 'if-range'],
      exposeHeaders: [...SNAPSHOT_HEADERS],
      allowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
      maxAge: 600,
    }),
  );
  for (const route of ROUTES) app.on(route.method, route.path, (context) => answer(route, context, options));
  return app;
}

async function answer(route: Route, context: Context, options: AppOptions): Promise<Response> {
  const response = await respond(route, context, options);
  options.metrics.requests.add(1, { route: `${route.method} ${route.path}`, status: String(response.status) });
  return withoutUnreadBody(response, context.req.method);
}

async function respond(
  route: Route,
  context: Context,
  { gate, services, addressOf, log }: AppOptions,
): Promise<Response> {
  const address = addressOf(remoteAddress(context), context.req.header('x-forwarded-for'));
  const name = `${route.method} ${route.path}`;
  try {
    const databaseId = context.req.param('databaseId') ?? '';
    const principal = await admit(route, databaseId, context.req.header('authorization'), gate, services);
    return await route.answer({
      services,
      principal,
      databaseId,
      address,
      param: (name) => context.req.param(name) ?? '',
      request: context.req.raw,
    });
  } catch (error) {
    if (!(error instanceof RockpoolError) || error.code === 'internal')
      log('request-error', { route: name, ...errorFields(error) });
    else if (error.code.startsWith('auth-')) log('request-refused', { route: name, ...refusalFields(error), address });
    return errorResponse(error);
  }
}

/** Returns the principal of a request. Throws if the request is not authorised for the route. */
async function admit(
  { access, method }: Route,
  databaseId: string,
  authorization: string | undefined,
  gate: Gate,
  { historyAccess, changeRates, now }: Services,
): Promise<Principal> {
  if (access === 'public') return ANONYMOUS;
  const token = bearerToken(authorization);
  if (token === '') throw new RockpoolError('auth-token-invalid');
  const askedMs = performance.now();
  const principal = await gate.authenticate(token, askedMs);
  if (access !== 'principal')
    await gate.require(principal, databaseId, access === 'history' ? historyAccess : access, askedMs);
  if (method !== 'GET') changeRates.take(principal.id, now());
  return principal;
}
