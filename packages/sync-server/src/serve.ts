import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { RockpoolError } from '@rockpool/shared';
import { connectionAddresses } from './auth/client-address.ts';
import type { ServeConfig } from './cli/config.ts';
import { createSyncServer, SYNC_PATH } from './create-sync-server.ts';
import { METRICS_TYPE } from './routes/probes.ts';
import { limitIdleConnections } from './session/idle-connections.ts';
import { SESSION_LIMITS } from './session/limits.ts';
import type { SyncServer, SyncServerOptions } from './sync-server.ts';

export interface RunningServer {
  /** For example `http://127.0.0.1:4000`. */
  readonly url: string;
  /** The URL of the metrics, if they have an address of their own. */
  readonly metricsUrl: string | null;
  /** The URL of the admin page, if it is on. */
  readonly adminUrl: string | null;
  /** Ends sessions, settles pushes, and closes the files and the port. */
  stop(): Promise<void>;
}

/** The maximum duration of a request, in ms. */
export interface RequestTimes {
  /** This limit also applies to a connection that sends nothing. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkIntervalMs: number;
}

/** Node's default interval of 30 s would keep silent connections three times as long as the limit says. */
const REQUEST_TIMES: RequestTimes = { headersMs: 10_000, requestMs: 60_000, checkIntervalMs: 5_000 };

/** A silent connection to the admin API is probed after this time. */
const SILENCE_MS = 10_000;

/**
 * Runs a sync server on a port of its own. Resolves once it listens. Throws `config-invalid` if it cannot listen on the
 * address.
 */
export async function serve(
  { host, port, metricsAddress, adminAddress, ...options }: ServeConfig & Pick<SyncServerOptions, 'limits'>,
  times: RequestTimes = REQUEST_TIMES,
): Promise<RunningServer> {
  const sync = createSyncServer(options);
  try {
    await sync.ready();
  } catch (error) {
    await sync.close();
    throw error;
  }
  // Clients request paths beside that of the socket; people and load balancers request /health.
  const app = new Hono();
  if (sync.admin !== null && adminAddress === undefined) app.route('/admin', sync.admin);
  app.route(SYNC_PATH, sync.app).route('/', sync.app);
  // The adapter's type also allows HTTP/2 servers; without options it creates a plain one.
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { connectionsCheckingInterval: times.checkIntervalMs },
  }) as Server;
  // Limits clients that send a request byte by byte.
  server.headersTimeout = times.headersMs;
  server.requestTimeout = times.requestMs;
  const limits = { ...SESSION_LIMITS, ...options.limits };
  const addressOf = connectionAddresses(options.trustedProxies);
  const limit = (limited: Server): void => limitIdleConnections(limited, limits, addressOf);
  limit(server);
  sync.attach(server);
  try {
    await listen(server, host, port);
  } catch (error) {
    await sync.close();
    throw error;
  }
  let metrics: Server | null = null;
  let admin: Server | null = null;
  try {
    if (metricsAddress !== undefined) metrics = await serveMetrics(sync, metricsAddress, times, limit);
    if (sync.admin !== null && adminAddress !== undefined)
      admin = await serveAdmin(sync.admin, adminAddress, times, limit);
  } catch (error) {
    server.close();
    metrics?.close();
    await sync.close();
    throw error;
  }
  return {
    url: urlOf(server, host),
    metricsUrl: metrics === null ? null : `${urlOf(metrics, metricsAddress?.host ?? '')}/metrics`,
    adminUrl: sync.admin === null ? null : `${urlOf(admin ?? server, adminAddress?.host ?? host)}/admin`,
    stop: async () => {
      for (const other of [metrics, admin]) {
        other?.close();
        other?.closeAllConnections();
      }
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      try {
        await sync.close();
      } finally {
        server.closeAllConnections();
        await closed;
      }
    },
  };
}

/** Serves only the metrics, so that their port can be reachable for the operator only. */
async function serveMetrics(
  sync: SyncServer,
  { host, port }: { readonly host: string; readonly port: number },
  times: RequestTimes,
  limit: (server: Server) => void,
): Promise<Server> {
  const server = createServer({ connectionsCheckingInterval: times.checkIntervalMs }, (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' }).end(sync.metrics());
  });
  server.headersTimeout = times.headersMs;
  server.requestTimeout = times.requestMs;
  limit(server);
  await listen(server, host, port);
  return server;
}

/**
 * Serves only the admin API and page, so that their port can be reachable for the operator only. A request may take any
 * time, because an import sends a whole database.
 */
async function serveAdmin(
  admin: Hono,
  { host, port }: { readonly host: string; readonly port: number },
  times: RequestTimes,
  limit: (server: Server) => void,
): Promise<Server> {
  const server = createAdaptorServer({
    fetch: new Hono().route('/admin', admin).fetch,
    serverOptions: {
      connectionsCheckingInterval: times.checkIntervalMs,
      // Ends an import whose client has lost its power or network.
      keepAlive: true,
      keepAliveInitialDelay: SILENCE_MS,
    },
  }) as Server;
  server.headersTimeout = times.headersMs;
  server.requestTimeout = 0;
  limit(server);
  await listen(server, host, port);
  return server;
}

function urlOf(server: Server, host: string): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const reason = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
      reject(
        new RockpoolError(
          'config-invalid',
          { count: 1, problems: `cannot listen on ${host}:${port} (${reason})` },
          { cause: error },
        ),
      );
    });
    server.listen(port, host, resolve);
  });
}
