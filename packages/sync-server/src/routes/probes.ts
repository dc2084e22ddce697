import { isMetricsToken } from '../auth/metrics-access.ts';
import type { Route } from './route.ts';

/** Answers while the process runs. */
export const health: Route = {
  method: 'GET',
  path: '/health',
  access: 'public',
  answer: () => Response.json({ status: 'ok' }),
};

/**
 * Whether the server can commit: `{ status, damagedDatabases }`. Answers 503 with status `unavailable` while the server
 * stops or its store does not answer, and with `disk-full` while little space is left, so that a load balancer sends
 * clients elsewhere. Damaged databases are offline individually and do not make the server unready.
 */
export const ready: Route = {
  method: 'GET',
  path: '/ready',
  access: 'public',
  answer: async ({ services }) => {
    const status = await services.readiness();
    return Response.json(
      { status, damagedDatabases: services.damagedDatabases() },
      { status: status === 'ready' ? 200 : 503 },
    );
  },
};

/**
 * Metrics for Prometheus. Without a token of their own: counts and sizes, without names. With it, also the tenants with
 * the largest databases. Answers 404 where the host serves them elsewhere.
 */
export const metrics: Route = {
  method: 'GET',
  path: '/metrics',
  access: 'public',
  answer: ({ services, request }) => {
    const { metricsAccess } = services;
    if (metricsAccess === 'none') return new Response(null, { status: 404 });
    if (metricsAccess === 'public') return metricsResponse(services.metrics.render());
    const [, token = ''] = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    return isMetricsToken(token, metricsAccess.token)
      ? metricsResponse(services.metrics.renderWithTenants())
      : new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  },
};

/** Prometheus' text format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4';

function metricsResponse(text: string): Response {
  return new Response(text, { headers: { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' } });
}
