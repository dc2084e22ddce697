import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { createSyncServer, SYNC_PATH } from '../src/create-sync-server.ts';
import type { SyncServer, SyncServerOptions } from '../src/sync-server.ts';

/** A real server on a port of its own, sockets and HTTP, that keeps no process alive. `url` is that of the sockets. */
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
