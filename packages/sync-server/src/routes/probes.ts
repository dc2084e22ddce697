import type { Route } from './route.ts';

/** The process answers. */
export const health: Route = { method: 'GET', path: '/health', access: 'public', answer: () => Response.json({ status: 'ok' }) };
