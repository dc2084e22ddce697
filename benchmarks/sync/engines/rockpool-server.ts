import type { Server } from 'node:http';
import { createAdaptorServer } from '../../../packages/sync-server/node_modules/@hono/node-server/dist/index.mjs';
import { createSyncServer } from '../../../packages/sync-server/src/index.ts';
import { schema, SECRET } from './rockpool-shared.ts';

/**
 * Starts the server with its defaults, without log output. Files for first syncs come over HTTP, not over the socket.
 */
export async function startServer(port: number, dataDir: string): Promise<void> {
  const sync = createSyncServer({ dataDir, schema, secret: SECRET, log: () => undefined });
  const http = createAdaptorServer({
    fetch: (request: Request) => sync.app.fetch(new Request(request.url.replace('/sync/', '/'), request)),
  }) as Server;
  sync.attach(http);
  await new Promise<void>((resolve) => void http.listen(port, '127.0.0.1', resolve));
}
