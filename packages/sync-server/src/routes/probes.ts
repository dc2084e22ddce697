import type { Route } from './route.ts';

/** The process answers. */
export const health: Route = { method: 'GET', path: '/health', access: 'public', answer: () => Response.json({ status: 'ok' }) };

/** It takes work: 503 from the moment that it is told to stop, and while its store does not answer, so that a balancer sends clients elsewhere. */
export const ready: Route = {
  method: 'GET',
  path: '/ready',
  access: 'public',
  answer: async ({ services }) => ((await services.isReady()) ? Response.json({ status: 'ready' }) : Response.json({ status: 'unavailable' }, { status: 503 })),
};

/** For Prometheus. Counts and sizes, no names: a proxy that faces the world should still keep it to the inside. */
export const metrics: Route = {
  method: 'GET',
  path: '/metrics',
  access: 'public',
  answer: ({ services }) => new Response(services.metrics.render(), { headers: { 'content-type': 'text/plain; version=0.0.4' } }),
};
