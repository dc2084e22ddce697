import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { createSyncServer, SYNC_PATH } from '../src/create-sync-server.ts';
import type { SyncServer, SyncServerOptions } from '../src/sync-server.ts';

/**
 * Starts a real server with sockets and HTTP on a free port. It does not keep the process alive. `url` is the URL of
 * the sockets.
 */
export async function startForPages(
  options: SyncServerOptions,
): Promise<{ readonly sync: SyncServer; readonly url: string }> {
  const sync = createSyncServer(options);
  const http = createAdaptorServer({ fetch: new Hono().route(SYNC_PATH, sync.app).fetch }) as Server;
  sync.attach(http);
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  http.unref();
  return { sync, url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}${SYNC_PATH}` };
}
