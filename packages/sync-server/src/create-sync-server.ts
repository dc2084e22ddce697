import { mkdirSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Hono } from 'hono';
import { encodeOutline, encodeSchema, PROTOCOL_VERSION, RockpoolError } from '@rockpool/shared';
import { createApp } from './app.ts';
import { clientAddresses, type AddressOf } from './auth/client-address.ts';
import { Gate, isDatabaseId } from './auth/gate.ts';
import { issueToken, jwtAuthenticate, type TokenRules } from './auth/jwt.ts';
import { MEMBER_LIMITS, Members } from './auth/members.ts';
import type { Principal } from './auth/principal.ts';
import { toServerDatabase } from './backend/server-database.ts';
import { checkOptions, type Secrets } from './check-options.ts';
import { DatabaseHost, type HostRules } from './database/database-host.ts';
import type { Databases } from './database/databases.ts';
import { DiskWatch } from './store/disk-watch.ts';
import { limitRefusals } from './observe/limited-log.ts';
import { errorFields, logToStderr, neverThrows, type Logger } from './observe/log-line.ts';
import { ServerMetrics } from './observe/server-metrics.ts';
import { divideConnections } from './postgres/connection.ts';
import { Sockets } from './session/accept-sockets.ts';
import { ConnectionQuota } from './session/connection-quota.ts';
import { acceptInProcess } from './session/in-process.ts';
import { HttpSessions } from './session/http-sessions.ts';
import { SESSION_LIMITS } from './session/limits.ts';
import type { SessionContext } from './session/session.ts';
import { lockDirectory } from './store/directory-lock.ts';
import { knownSchemas, schemaViews } from './store/known-schemas.ts';
import { TenantSizes } from './store/tenant-sizes.ts';
import { postgresStores, sqliteStores, type Stores } from './store/open-stores.ts';
import type { ReadableRows } from './store/read-filter.ts';
import type { SyncServer, SyncServerOptions } from './sync-server.ts';
import { SERVER_VERSION } from './version.ts';
import { removeThreadFolders } from './threads/thread-folders.ts';
import { DatabaseThreads } from './threads/database-threads.ts';

export const SYNC_PATH = '/sync';

const LARGEST_TENANTS = 10;

/** What the parts below share. */
interface Base {
  readonly options: SyncServerOptions;
  readonly now: () => number;
  readonly log: Logger;
  readonly metrics: ServerMetrics;
  readonly stores: Stores;
  readonly addressOf: AddressOf;
  readonly diskWatch: DiskWatch;
  readonly tenants: TenantSizes;
}

/**
 * Creates a sync server to mount in another program. Throws `config-invalid` with every problem at once, and
 * `database-unavailable` when another server uses the directory.
 */
export function createSyncServer(options: SyncServerOptions): SyncServer {
  const { dataDir, schema, now = Date.now } = options;
  const secret = toBytes(options.secret);
  const previousSecret = toBytes(options.previousSecret);
  checkOptions(options, { secret, previousSecret });
  const log = limitRefusals(neverThrows(options.log ?? logToStderr));
  mkdirSync(dataDir, { recursive: true });
  const lock = lockDirectory(dataDir);
  const metrics = new ServerMetrics();
  const stores = openStores(options, log, metrics);
  const addressOf = clientAddresses(options.trustedProxies ?? []);
  const diskWatch = new DiskWatch(stores.store);
  const tenants = new TenantSizes(dataDir, (databaseId) => stores.store.pathOf(databaseId), options.tenantOf);
  const base: Base = { options, now, log, metrics, stores, addressOf, diskWatch, tenants };
  const members = new Members({
    store: stores.memberStore,
    bus: stores.bus,
    onChanged: () => sockets.reauthorize(),
    onError: (error) => log('store-error', errorFields(error)),
    now,
    limits: { ...MEMBER_LIMITS, ...options.quotas },
  });
  const rules = tokenRules(options, { secret, previousSecret });
  const gate = new Gate({
    authenticate: options.authenticate ?? jwtAuthenticate(rules, now),
    authorize: options.authorize ?? ((...question) => members.allows(...question)),
    now,
    log,
  });
  const databases = openDatabases(base);
  const schemas = knownSchemas(dataDir, schema, options.olderSchemas);
  const sockets: Sockets = openSockets(base, { schemas, gate, databases });
  exposeGauges(metrics, sockets, databases);
  exposeResources(base);
  const stopWatching = metrics.watchProcess();
  const close = async (): Promise<void> => {
    try {
      await sockets.close();
    } finally {
      await databases.close();
      members.close();
      await stores.close();
      lock.release();
      stopWatching();
      diskWatch.close();
    }
  };
  return syncServer({ base, secret, rules, members, gate, databases, schemas, sockets, close });
}

interface Parts {
  readonly base: Base;
  readonly secret: Uint8Array | undefined;
  readonly rules: TokenRules;
  readonly members: Members;
  readonly gate: Gate;
  readonly databases: DatabaseHost | DatabaseThreads;
  readonly schemas: ReturnType<typeof knownSchemas>;
  readonly sockets: Sockets;
  /** Ends sessions first and releases the directory last. */
  readonly close: () => Promise<void>;
}

function syncServer(parts: Parts): SyncServer {
  const { base, secret, rules, members, databases, schemas, sockets } = parts;
  const { options, now, stores } = base;
  const stopped = new AbortController();
  let closing: Promise<void> | null = null;
  return {
    app: appOf(parts, () => closing !== null),
    members: {
      list: (databaseId) => members.list(databaseId),
      setRole: (databaseId, principal, role) => members.setRole(databaseId, principal, role),
      invite: (request) => members.invite(request),
      invitations: (databaseId) => members.invitations(databaseId),
      withdraw: (databaseId, id) => members.withdraw(databaseId, id),
      revokeEverywhere: (principal) => members.revokeEverywhere(principal),
      readmit: (principal) => members.readmit(principal),
    },
    ready: async () => {
      for (const [hash, view] of schemaViews(await stores.ready(), options.schema)) schemas.set(hash, view);
      if (databases instanceof DatabaseThreads) await databases.ready();
    },
    database(databaseId) {
      if (!isDatabaseId(databaseId)) throw new RockpoolError('auth-database-forbidden');
      if (databases instanceof DatabaseThreads)
        throw new RockpoolError('config-invalid', { count: 1, problems: 'database() needs threads: 1' });
      return toServerDatabase(() => databases.open(databaseId), now, stopped.signal);
    },
    connect: (client) => acceptInProcess((socket) => sockets.beginOverHttp(socket, null), client),
    attach: (server, path = SYNC_PATH) => sockets.attach(server, path),
    issueToken: async (request) => {
      if (secret === undefined)
        throw new RockpoolError('config-invalid', {
          count: 1,
          problems: 'the server has no secret to sign tokens with',
        });
      return issueToken(secret, request, now(), rules);
    },
    metrics: () => base.metrics.renderWithTenants(),
    close: () => {
      stopped.abort();
      closing ??= parts.close();
      return closing;
    },
  };
}

function appOf({ base, gate, members, sockets, databases }: Parts, isClosing: () => boolean): Hono {
  const { options, now, log, metrics, addressOf, diskWatch } = base;
  return createApp({
    gate,
    origins: options.origins ?? [],
    addressOf,
    log,
    metrics,
    services: {
      log,
      members,
      httpSessions: new HttpSessions((...session) => sockets.beginOverHttp(...session)),
      now,
      metrics,
      metricsAccess: options.metrics ?? 'public',
      readiness: async () => (isClosing() ? 'unavailable' : diskWatch.readiness()),
      damagedDatabases: () => databases.damagedCount,
      schemaHash: options.schema.hash,
      history: (databaseId, principal, request) =>
        databases.history(databaseId, request, readableRows(principal, databaseId), now()),
      snapshot: (databaseId, principal) => databases.snapshot(databaseId, readableRows(principal, databaseId)),
    },
  });
}

function toBytes(secret: string | Uint8Array | undefined): Uint8Array | undefined {
  return typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
}

function tokenRules(
  { keySet, oidcIssuer, issuer, audience }: SyncServerOptions,
  { secret, previousSecret }: Secrets,
): TokenRules {
  return {
    ...(secret && { secret }),
    ...(previousSecret && { previousSecret }),
    ...(keySet && { keySet }),
    ...(oidcIssuer && { oidcIssuer }),
    ...(issuer && { issuer }),
    ...(audience && { audience }),
  };
}

function openStores(options: SyncServerOptions, log: Logger, metrics: ServerMetrics): Stores {
  const { dataDir, schema, postgres } = options;
  if (postgres === undefined) return sqliteStores(dataDir, schema);
  return postgresStores(postgres, {
    dataDir,
    schema,
    maxConnections: divideConnections(options.threads ?? 1, options.postgresConnections).accepting,
    onError: (error) => log('store-error', errorFields(error)),
    measureCommit: (durationMs) => metrics.postgresCommitDurations.add(durationMs),
  });
}

/** On threads of their own, or on this one. */
function openDatabases(base: Base): DatabaseHost | DatabaseThreads {
  const { options, stores, log, diskWatch, tenants } = base;
  const { dataDir, schema, postgres, validate, threads = 1 } = options;
  removeThreadFolders(dataDir);
  if (threads > 1) return openThreads(base, threads);
  return new DatabaseHost({
    dataDir,
    schemaHash: schema.hash,
    rules: hostRules(options),
    store: stores.store,
    bus: postgres === undefined ? null : stores.bus,
    roomOf: (databaseId) => ({
      tenantBytes: () => tenants.bytesOf(databaseId),
      isDiskFull: () => diskWatch.isDiskFull,
      takeReserve: (bytes) => diskWatch.takeReserve(bytes),
    }),
    log,
    validate,
  });
}

function openThreads({ options, log, metrics, tenants }: Base, count: number): DatabaseThreads {
  const { dataDir, schema, postgres = null } = options;
  const { maxTenantBytes = Infinity } = options.quotas ?? {};
  const databases: DatabaseThreads = new DatabaseThreads({
    thread: {
      count,
      dataDir,
      schema: encodeSchema(schema),
      postgres,
      postgresConnections: divideConnections(count, options.postgresConnections).each,
      documentThreads: Math.max(1, Math.floor((availableParallelism() - 1) / count)),
      rules: hostRules(options),
    },
    log,
    onCommit: (durationMs) => metrics.postgresCommitDurations.add(durationMs),
    watch: () =>
      maxTenantBytes === Infinity
        ? () => undefined
        : tenants.watch(() => databases.setFullTenants(tenants.databasesOver(maxTenantBytes))),
  });
  return databases;
}

function hostRules({ retention, quotas, snapshots, scrub, deliveryPartBytes, postgres }: SyncServerOptions): HostRules {
  return {
    retention,
    quotas,
    snapshots,
    // PostgreSQL has checksums of its own: the files are working copies, rebuilt at each start.
    scrub: postgres === undefined ? scrub : null,
    deliveryPartBytes,
  };
}

function openSockets(
  { options, now, log, metrics, addressOf }: Base,
  { schemas, gate, databases }: Pick<SessionContext, 'schemas' | 'gate'> & { readonly databases: Databases },
): Sockets {
  const limits = { ...SESSION_LIMITS, ...options.limits };
  return new Sockets({
    origins: options.origins ?? [],
    addressOf,
    context: {
      schemas,
      schemaOutline: encodeOutline(options.schema),
      gate,
      readableRows,
      openDatabase: (databaseId) => databases.open(databaseId),
      onDamaged: (databaseId, error) => databases.takeOffline(databaseId, error),
      now,
      log,
      limits,
      connectionQuota: new ConnectionQuota(limits.maxSessionsPerPrincipal),
      metrics,
    },
  });
}

/** A principal that may open a database may read all of it. Partial sync will decide here. */
function readableRows(_principal: Principal, _databaseId: string): ReadableRows {
  return 'everything';
}

/** Versions, disk, tenants, and connections to PostgreSQL. */
function exposeResources({ options, metrics, stores, diskWatch, tenants }: Base): void {
  metrics.gaugeOf('rockpool_build_info', 'Always 1; the labels name versions.', () => [
    [
      {
        version: SERVER_VERSION,
        node: process.versions.node,
        protocol: String(PROTOCOL_VERSION),
        schema: options.schema.hash,
      },
      1,
    ],
  ]);
  metrics.gauge('rockpool_disk_full', 'Whether only the reserve of the disk is left, which is for deletes.', () =>
    Number(diskWatch.isDiskFull),
  );
  const disk = (): { readonly free: number; readonly total: number } => {
    const { bavail, blocks, bsize } = statfsSync(options.dataDir);
    return { free: bavail * bsize, total: blocks * bsize };
  };
  metrics.gauge('rockpool_disk_free_bytes', 'Free bytes of the disk of the data directory.', () => disk().free);
  metrics.gauge('rockpool_disk_size_bytes', 'Size of that disk.', () => disk().total);
  metrics.tenantGauge(
    'rockpool_tenant_bytes',
    'Bytes of the databases of the ten tenants with the largest ones, measured at most every 10 s.',
    () => tenants.largest(LARGEST_TENANTS).map(([tenant, bytes]) => [{ tenant }, bytes] as const),
  );
  metrics.gauge('rockpool_tenants', 'Tenants with databases on the disk, as last measured.', () => tenants.count);
  const { connectionCounts } = stores;
  if (connectionCounts === undefined) return;
  metrics.gaugeOf(
    'rockpool_postgres_connections',
    'Connections to PostgreSQL of the accepting thread, by state, and queries that wait for one.',
    () => Object.entries(connectionCounts()).map(([state, count]) => [{ state }, count] as const),
  );
}

function exposeGauges(metrics: ServerMetrics, sockets: Sockets, databases: DatabaseHost | DatabaseThreads): void {
  metrics.gauge('rockpool_sockets', 'WebSockets that are open.', () => sockets.count);
  metrics.gauge(
    'rockpool_sockets_unauthenticated',
    'WebSockets that are open and have not sent a valid token.',
    () => sockets.waitingCount,
  );
  metrics.gauge('rockpool_databases_open', 'Files of databases that are open.', () => databases.openCount);
  metrics.gauge(
    'rockpool_databases_damaged',
    'Databases that are offline because their files are damaged.',
    () => databases.damagedCount,
  );
  if (!(databases instanceof DatabaseThreads)) return;
  metrics.gauge('rockpool_threads', 'Threads that own databases and run.', () => databases.runningCount);
  metrics.counter(
    'rockpool_thread_restarts_total',
    'Threads that ended unexpectedly and were replaced.',
    () => databases.restartCount,
  );
  metrics.gauge(
    'rockpool_thread_delay_p99_seconds',
    'Delay of the event loops of the threads in the last second, 99th percentile: that of the slowest thread.',
    () => Math.max(...databases.states.map(({ loopDelaySeconds }) => loopDelaySeconds)),
  );
  metrics.gauge('rockpool_thread_utilization', 'Share of the last second in which the busiest thread worked.', () =>
    Math.max(...databases.states.map(({ utilization }) => utilization)),
  );
}
