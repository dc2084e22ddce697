import type { BackupState } from '../backup/backup-state.ts';
import { bearerToken, isOperatorToken } from '../auth/operator-token.ts';
import type { Route } from './route.ts';

/** Responds while the process runs. */
export const health: Route = {
  method: 'GET',
  path: '/health',
  access: 'public',
  answer: () => Response.json({ status: 'ok' }),
};

/**
 * Whether the server can commit: `{ status, damagedDatabases, unservableDatabases, unavailableShards, bus, backup }`,
 * within 3 s. `unavailableShards` is left out without shards; the databases of such a shard are offline, the others are
 * not. `bus` is left out for a server of one instance; while it is `disconnected`, commits of other instances arrive by
 * polling, so the server stays ready. Responds with 503: status `unavailable` while the server stops or its store does
 * not respond, `disk-full` while little space is left, and `schema-incompatible` while PostgreSQL has a schema that
 * this instance cannot serve, so that a load balancer sends clients elsewhere. Single databases that are offline or
 * cannot be opened do not make the server unready. Nor does a continuous backup that fails: `backup` is
 * `{ pending, lagMs, failing }`, and left out if there is none.
 */
export const ready: Route = {
  method: 'GET',
  path: '/ready',
  access: 'public',
  answer: async ({ services }) => {
    const status = await services.readiness();
    const bus = services.bus();
    const unavailableShards = services.unavailableShards();
    const backup = services.backup();
    return Response.json(
      {
        status,
        damagedDatabases: services.damagedDatabases(),
        unservableDatabases: services.unservableDatabases(),
        ...(unavailableShards !== null && { unavailableShards }),
        ...(bus !== null && { bus }),
        ...(backup !== null && { backup: readyBackup(backup) }),
      },
      { status: status === 'ready' ? 200 : 503 },
    );
  },
};

function readyBackup({ pending, lagMs, outage }: BackupState): object {
  return {
    pending,
    lagMs,
    failing:
      outage === null
        ? null
        : {
            code: outage.code,
            cause: outage.cause,
            since: new Date(outage.sinceMs).toISOString(),
            nextAttempt: new Date(outage.nextAttemptMs).toISOString(),
          },
  };
}

/**
 * Metrics for Prometheus. Without a token of their own: counts and sizes, without names. With it, also the tenants with
 * the largest databases. Responds with 404 if the host serves them elsewhere.
 */
export const metrics: Route = {
  method: 'GET',
  path: '/metrics',
  access: 'public',
  answer: ({ services, request }) => {
    const { metricsAccess } = services;
    if (metricsAccess === 'none') return new Response(null, { status: 404 });
    if (metricsAccess === 'public') return metricsResponse(services.metrics.render());
    return isOperatorToken(bearerToken(request.headers.get('authorization')), metricsAccess.token)
      ? metricsResponse(services.metrics.renderWithTenants())
      : new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  },
};

/** Prometheus' text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4';

function metricsResponse(text: string): Response {
  return new Response(text, { headers: { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' } });
}
