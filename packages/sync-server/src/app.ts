import { Hono } from 'hono';

/** What the server answers over plain HTTP. Sync itself runs over the WebSocket (session/accept-sockets.ts). */
export function createApp(): Hono {
  const app = new Hono();
  app.get('/health', (context) => context.json({ status: 'ok' }));
  return app;
}
