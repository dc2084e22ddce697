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

/** Metrics for Prometheus: counts and sizes, without names. A public proxy should still not expose them. */
export const metrics: Route = {
  method: 'GET',
  path: '/metrics',
  access: 'public',
  answer: ({ services }) =>
    new Response(services.metrics.render(), { headers: { 'content-type': 'text/plain; version=0.0.4' } }),
};
