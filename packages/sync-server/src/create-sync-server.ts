import { randomUUID } from 'node:crypto';
import { mkdirSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Hono } from 'hono';
import { encodeSchema, PROTOCOL_VERSION, RockpoolError } from '@rockpool/shared';
import { createAdminApp } from './admin/admin-app.ts';
import { AdminJobs } from './admin/admin-jobs.ts';
import { Lifecycle } from './admin/lifecycle.ts';
import { createApp } from './app.ts';
import { clientAddresses, type AddressOf } from './auth/client-address.ts';
import { Gate, isDatabaseId } from './auth/gate.ts';
import { issueToken, jwtAuthenticate, type TokenRules } from './auth/jwt.ts';
import { MEMBER_LIMITS, Members } from './auth/members.ts';
import type { Principal } from './auth/principal.ts';
import { operationOf } from './auth/role.ts';
import { toServerDatabase } from './backend/server-database.ts';
import { BACKUP_INTERVAL_MS, BACKUP_KEEP_MS } from './backup/backup-rules.ts';
import { sumOfStates, type BackupState } from './backup/backup-state.ts';
import { readCopyFacts } from './backup/copy-record.ts';
import { openDestination } from './backup/open-destination.ts';
import { ServerCopies } from './backup/server-copies.ts';
import type { BusState } from './bus/bus.ts';
import { checkOptions, type Secrets } from './check-options.ts';
import { DatabaseHost, type HostRules } from './database/database-host.ts';
import type { Databases } from './database/databases.ts';
import { DiskWatch } from './store/disk-watch.ts';
import { limitRefusals } from './observe/limited-log.ts';
import { errorFields, logToStderr, neverThrows, type Logger } from './observe/log-line.ts';
import { ServerMetrics } from './observe/server-metrics.ts';
import type { FollowedCommit } from './observe/push-trace.ts';
import { Tracing } from './observe/tracing.ts';
import { divideConnections } from './postgres/connection.ts';
import { Sockets } from './session/accept-sockets.ts';
import { ConnectionQuota } from './session/connection-quota.ts';
import { Devices } from './session/devices.ts';
import { acceptInProcess } from './session/in-process.ts';
import { HttpSessions } from './session/http-sessions.ts';
import { SESSION_LIMITS } from './session/limits.ts';
import { SessionForwarding, urlOfServer } from './session/session-forwarding.ts';
import type { SessionContext } from './session/session.ts';
import { databaseIds } from './store/data-directory.ts';
import { lockDirectory } from './store/directory-lock.ts';
import { finishFileChanges } from './store/file-change.ts';
import { KnownSchemas, rememberedSchemas, rememberSchema } from './store/known-schemas.ts';
import { unservableDatabases } from './store/unservable-databases.ts';
import { requireFinishedRestore } from './store/unfinished-restore.ts';
import { TenantSizes } from './store/tenant-sizes.ts';
import { postgresStores, sqliteStores, type Stores } from './store/open-stores.ts';
import type { ReadableRows } from './store/read-filter.ts';
import type { SyncServer, SyncServerOptions } from './sync-server.ts';
import { SERVER_VERSION } from './version.ts';
import { removeThreadFolders } from './threads/thread-folders.ts';
import { DatabaseThreads } from './threads/database-threads.ts';

export const SYNC_PATH = '/sync';

const LARGEST_TENANTS = 10;

/** State that the parts below share. */
interface Base {
  readonly options: SyncServerOptions;
  readonly now: () => number;
  readonly log: Logger;
  readonly metrics: ServerMetrics;
  readonly stores: Stores;
  /** Null: no spans are recorded. */
  readonly tracing: Tracing | null;
  readonly addressOf: AddressOf;
  readonly diskWatch: DiskWatch;
  readonly tenants: TenantSizes;
  readonly devices: Devices;
  /** Databases that this server cannot open, as found at the start. */
  readonly unservable: Set<string>;
  /** A random id of this run. */
  readonly run: string;
}

/**
 * Creates a sync server to mount in another program. Throws `config-invalid` with every problem at once, and
 * `database-unavailable` when another server uses the directory.
 */
export function createSyncServer(options: SyncServerOptions): SyncServer {
  const { dataDir, now = Date.now } = options;
  const secret = toBytes(options.secret);
  const previousSecret = toBytes(options.previousSecret);
  checkOptions(options, { secret, previousSecret });
  const tracing = options.tracing === true ? Tracing.load(SERVER_VERSION) : null;
  const log = limitRefusals(neverThrows(options.log ?? logToStderr));
  mkdirSync(dataDir, { recursive: true });
  requireFinishedRestore(dataDir);
  const lock = lockDirectory(dataDir);
  const metrics = new ServerMetrics();
  const stores = openStores(options, log, metrics);
  finishFileChanges(dataDir, (databaseId) => void stores.memberStore.forgetDatabase(databaseId));
  const addressOf = clientAddresses(options.trustedProxies ?? []);
  const diskWatch = new DiskWatch(stores.store);
  const tenants = new TenantSizes(dataDir, (databaseId) => stores.store.pathOf(databaseId), options.tenantOf);
  const base: Base = {
    tracing,
    ...{ options, now, log, metrics, stores, addressOf, diskWatch, tenants },
    devices: new Devices(),
    unservable: new Set(),
    run: randomUUID(),
  };
  const jobs = openJobs(base);
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
  const sockets: Sockets = openSockets(base, { gate, databases });
  exposeGauges(metrics, sockets, databases);
  exposeResources(base);
  exposeShards(metrics, stores);
  exposeBus(metrics, () => busStates(stores, databases));
  const serverCopies = openServerCopies(base);
  const backupState = (): BackupState | null => sumOfStates([databases.backupState, serverCopies?.state ?? null]);
  exposeBackup(metrics, backupState);
  const stopWatching = metrics.watchProcess();
  const attached: Attached = {};
  const forwarding = openForwarding(base, attached);
  const close = async (): Promise<void> => {
    try {
      await Promise.all([sockets.close(), jobs.close(), forwarding?.close()]);
    } finally {
      await databases.close();
      members.close();
      await serverCopies?.close();
      await stores.close();
      lock.release();
      stopWatching();
      diskWatch.close();
    }
  };
  const parts = { base, secret, rules, members, gate, databases, sockets, jobs };
  return syncServer({ ...parts, attached, forwarding, backupState, close });
}

/** The first HTTP server that the host has attached. */
interface Attached {
  url?: () => string | null;
}

interface Parts {
  readonly base: Base;
  readonly secret: Uint8Array | undefined;
  readonly rules: TokenRules;
  readonly members: Members;
  readonly gate: Gate;
  readonly databases: DatabaseHost | DatabaseThreads;
  readonly sockets: Sockets;
  readonly jobs: AdminJobs;
  readonly backupState: () => BackupState | null;
  readonly attached: Attached;
  /** Null: a server of one instance. */
  readonly forwarding: SessionForwarding | null;
  /** Ends sessions first and releases the directory last. */
  readonly close: () => Promise<void>;
}

function syncServer(parts: Parts): SyncServer {
  const { base, secret, rules, members, databases, sockets } = parts;
  const { now, stores } = base;
  const stopped = new AbortController();
  let closing: Promise<void> | null = null;
  return {
    app: appOf(parts, () => closing !== null),
    admin: adminOf(parts),
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
      await stores.ready();
      requireServable(base);
      if (databases instanceof DatabaseThreads) await databases.ready();
    },
    database(databaseId) {
      if (!isDatabaseId(databaseId)) throw new RockpoolError('auth-database-forbidden');
      if (databases instanceof DatabaseThreads)
        throw new RockpoolError('config-invalid', { count: 1, problems: 'database() needs threads: 1' });
      return toServerDatabase(() => databases.open(databaseId), now, stopped.signal);
    },
    connect: (client) => acceptInProcess((socket) => sockets.beginOverHttp(socket, null), client),
    attach: (server, path = SYNC_PATH) => {
      sockets.attach(server, path);
      parts.attached.url ??= () => urlOfServer(server, path);
    },
    issueToken: async (request) => {
      if (secret === undefined)
        throw new RockpoolError('config-invalid', {
          count: 1,
          problems: 'the server has no secret for signing tokens',
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

/**
 * Names the databases that this server cannot open, such as those that a newer version has written. Throws the reason
 * if no other database exists: a server that answers every client with an error must not start.
 */
function requireServable({ options: { dataDir, schema, postgres }, log, unservable }: Base): void {
  if (postgres !== undefined) return;
  const found = unservableDatabases(dataDir, schema);
  for (const [database, error] of found) {
    unservable.add(database);
    log('database-unservable', { database, ...errorFields(error) });
  }
  const [first] = found.values();
  if (first !== undefined && found.size === databaseIds(dataDir).length) throw first;
}

function appOf(
  { base, gate, members, sockets, databases, forwarding, backupState }: Parts,
  isClosing: () => boolean,
): Hono {
  const { options, now, log, metrics, addressOf, diskWatch, stores, unservable } = base;
  return createApp({
    gate,
    origins: options.origins ?? [],
    addressOf,
    log,
    metrics,
    services: {
      log,
      members,
      httpSessions: new HttpSessions(
        (...session) => sockets.beginOverHttp(...session),
        forwarding === null ? '' : `${forwarding.instance}.`,
      ),
      forwarding,
      now,
      metrics,
      metricsAccess: options.metrics ?? 'public',
      readiness: async () => (isClosing() ? 'unavailable' : diskWatch.readiness()),
      damagedDatabases: () => databases.damagedCount,
      unservableDatabases: () => unservable.size,
      unavailableShards: () =>
        stores.shardStates === undefined
          ? null
          : [...stores.shardStates().values()].filter((state) => state !== 'ready').length,
      bus: () => {
        const states = busStates(stores, databases);
        return states.length === 0 ? null : isBusConnected(states) ? 'connected' : 'disconnected';
      },
      backup: backupState,
      historyAccess: operationOf(options.historyRole ?? 'viewer'),
      history: (databaseId, principal, request) =>
        databases.history(databaseId, request, readableRows(principal, databaseId), now()),
      pastState: (databaseId, principal, moment) =>
        databases.pastState(databaseId, moment, readableRows(principal, databaseId), now()),
      snapshot: (databaseId, schemaHash, principal) =>
        databases.snapshot(databaseId, schemaHash, readableRows(principal, databaseId)),
    },
  });
}

function adminOf({ base, members, sockets, databases, jobs }: Parts): Hono | null {
  const { options, now, log, metrics, addressOf, stores, devices } = base;
  if (options.admin === undefined) return null;
  return createAdminApp({
    token: options.admin.token,
    addressOf,
    log,
    metrics,
    services: {
      store: stores.store,
      members,
      devices,
      sessions: () => sockets.facts(),
      jobs,
      lifecycle: new Lifecycle({
        dataDir: options.dataDir,
        databases,
        store: stores.store,
        hasFiles: options.postgres === undefined,
        members,
        devices,
        jobs,
        maxImportBytes: options.admin.maxImportBytes,
      }),
      copyFacts: (databaseId) => (options.backup === undefined ? null : readCopyFacts(stores.store.pathOf(databaseId))),
      about: {
        version: SERVER_VERSION,
        schemaHash: options.schema.hash,
        store: options.postgres === undefined ? 'files' : 'postgres',
        threads: options.threads ?? 1,
      },
      now,
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
  const { dataDir, schema, olderSchemas = [], postgres, nats } = options;
  rememberSchema(dataDir, schema);
  const schemas = new KnownSchemas([...rememberedSchemas(dataDir), ...olderSchemas]);
  if (postgres === undefined) return sqliteStores(dataDir, schema, schemas);
  return postgresStores(postgres, {
    dataDir,
    schema,
    schemas,
    nats,
    maxConnections: divideConnections(options.threads ?? 1, options.postgresConnections).accepting,
    onError: (error) => log('store-error', errorFields(error)),
    measureCommit: (durationMs) => metrics.postgresCommitDurations.add(durationMs),
  });
}

function openJobs({ options: { postgres, schema }, stores }: Base): AdminJobs {
  return new AdminJobs({
    pathOf: (databaseId) => stores.store.pathOf(databaseId),
    postgres: postgres ?? null,
    schema: encodeSchema(schema),
  });
}

function openForwarding({ options, now, stores }: Base, attached: Attached): SessionForwarding | null {
  if (stores.instances === null) return null;
  return new SessionForwarding({
    directory: stores.instances,
    ownUrl: () => options.instanceUrl ?? attached.url?.() ?? null,
    now,
  });
}

/** On threads of their own, or on this one. */
function openDatabases(base: Base): DatabaseHost | DatabaseThreads {
  const { options, stores, log, diskWatch, tenants, run } = base;
  const { dataDir, schema, postgres, validate, threads = 1 } = options;
  removeThreadFolders(dataDir);
  if (threads > 1) return openThreads(base, threads);
  return new DatabaseHost({
    dataDir,
    schemaHash: schema.hash,
    schemas: stores.schemas,
    rules: hostRules(options, run),
    store: stores.store,
    bus: postgres === undefined ? null : stores.bus,
    roomOf: (databaseId) => ({
      tenantBytes: () => tenants.bytesOf(databaseId),
      isDiskFull: () => diskWatch.isDiskFull,
      takeReserve: (bytes) => diskWatch.takeReserve(bytes),
    }),
    log,
    onFollowed: followedIn(base),
    validate,
  });
}

function followedIn({ tracing }: Pick<Base, 'tracing'>): (followed: FollowedCommit) => void {
  return (followed) => tracing?.followed(followed);
}

function openThreads({ options, log, metrics, tenants, run, tracing }: Base, count: number): DatabaseThreads {
  const { dataDir, schema, olderSchemas = [], postgres = null } = options;
  const { maxTenantBytes = Infinity } = options.quotas ?? {};
  const databases: DatabaseThreads = new DatabaseThreads({
    thread: {
      count,
      dataDir,
      schema: encodeSchema(schema),
      olderSchemas: olderSchemas.map(encodeSchema),
      postgres,
      nats: options.nats,
      postgresConnections: divideConnections(count, options.postgresConnections).each,
      documentThreads: Math.max(1, Math.floor((availableParallelism() - 1) / count)),
      rules: hostRules(options, run),
    },
    log,
    onCommit: (durationMs) => metrics.postgresCommitDurations.add(durationMs),
    onFollowed: followedIn({ tracing }),
    watch: () =>
      maxTenantBytes === Infinity
        ? () => undefined
        : tenants.watch(() => databases.setFullTenants(tenants.databasesOver(maxTenantBytes))),
  });
  return databases;
}

function hostRules(
  { retention, quotas, snapshots, scrub, deliveryPartBytes, postgres, backup }: SyncServerOptions,
  run: string,
): HostRules {
  return {
    retention,
    quotas,
    snapshots,
    // PostgreSQL has checksums of its own: the files are working copies, rebuilt at each start.
    scrub: postgres === undefined ? scrub : null,
    deliveryPartBytes,
    backup: backup === undefined ? null : { ...backup, run },
  };
}

function openSockets(
  base: Base,
  { gate, databases }: Pick<SessionContext, 'gate'> & { readonly databases: Databases },
): Sockets {
  const { options, now, log, metrics, addressOf, devices, tracing } = base;
  const limits = { ...SESSION_LIMITS, ...options.limits };
  return new Sockets({
    origins: options.origins ?? [],
    addressOf,
    context: {
      gate,
      readableRows,
      openDatabase: (databaseId) => databases.open(databaseId),
      onDamaged: (databaseId, error) => databases.takeOffline(databaseId, error),
      now,
      log,
      limits,
      connectionQuota: new ConnectionQuota(limits.maxSessionsPerPrincipal),
      metrics,
      tracing,
      devices: options.admin === undefined ? undefined : devices,
    },
  });
}

/** A principal that may open a database may read all of it. Partial sync will decide here. */
function readableRows(_principal: Principal, _databaseId: string): ReadableRows {
  return 'everything';
}

/** Versions, disk, tenants, and connections to PostgreSQL. */
function exposeResources({ options, metrics, stores, diskWatch, tenants, unservable }: Base): void {
  metrics.gauge(
    'rockpool_databases_unservable',
    'Databases with a schema or format that this server does not support, as found at its start.',
    () => unservable.size,
  );
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
    () =>
      connectionCounts().flatMap(({ labels, counts }) =>
        Object.entries(counts).map(([state, count]) => [{ ...labels, state }, count] as const),
      ),
  );
}

/** The metrics of the accepting thread first, then of each thread that owns databases. Empty: a server of one instance. */
function busStates({ bus }: Stores, databases: DatabaseHost | DatabaseThreads): readonly BusState[] {
  if (bus === null) return [];
  const states = databases instanceof DatabaseThreads ? databases.states.map((state) => state.bus) : [];
  return [bus.state, ...states.filter((state) => state !== null)];
}

function isBusConnected(states: readonly BusState[]): boolean {
  return states.every(({ isConnected }) => isConnected);
}

function exposeShards(metrics: ServerMetrics, { shardStates }: Stores): void {
  if (shardStates === undefined) return;
  metrics.gaugeOf('rockpool_shard_ready', 'Whether each shard could commit when it was last asked.', () =>
    [...shardStates()].map(([shard, state]) => [{ shard }, Number(state === 'ready')] as const),
  );
}

function exposeBus(metrics: ServerMetrics, states: () => readonly BusState[]): void {
  metrics.gauge(
    'rockpool_bus_connected',
    'Whether messages of other instances arrive. Without them, their commits take up to a second.',
    () => Number(isBusConnected(states())),
  );
  const sum = (count: (state: BusState) => number): number =>
    states().reduce((total, state) => total + count(state), 0);
  metrics.counter('rockpool_bus_reconnects_total', 'Connections to the bus that were lost and restored.', () =>
    sum(({ reconnects }) => reconnects),
  );
  metrics.counter('rockpool_bus_messages_lost_total', 'Messages that could not be sent to other instances.', () =>
    sum(({ lost }) => lost),
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

function openServerCopies({ options, log, run }: Base): ServerCopies | null {
  const { backup, dataDir } = options;
  if (backup === undefined) return null;
  const { intervalMs = BACKUP_INTERVAL_MS, keepMs = BACKUP_KEEP_MS } = backup;
  const destination = openDestination(backup, process.env);
  return new ServerCopies({ dataDir, destination, run, intervalMs, keepMs, log, now: Date.now });
}

/** All are 0 without a continuous backup. */
function exposeBackup(metrics: ServerMetrics, state: () => BackupState | null): void {
  metrics.gauge(
    'rockpool_backup_lag_seconds',
    'Age of the oldest commit that the continuous backup lacks.',
    () => (state()?.lagMs ?? 0) / 1_000,
  );
  metrics.gauge(
    'rockpool_backup_pending_databases',
    'Databases whose newest commits the continuous backup lacks.',
    () => state()?.pending ?? 0,
  );
  metrics.gauge('rockpool_backup_failing', 'Whether the destination of the continuous backup fails.', () =>
    Number((state()?.outage ?? null) !== null),
  );
  metrics.counter(
    'rockpool_backup_objects_total',
    'Objects stored by the continuous backup.',
    () => state()?.objects ?? 0,
  );
  metrics.counter('rockpool_backup_bytes_total', 'Bytes of these objects.', () => state()?.storedBytes ?? 0);
  metrics.counter(
    'rockpool_backup_failures_total',
    'Failed copies of the continuous backup.',
    () => state()?.failures ?? 0,
  );
  metrics.counter(
    'rockpool_backup_restarts_total',
    'Copies that began again because the record of what is copied was damaged.',
    () => state()?.restarts ?? 0,
  );
  metrics.gauge(
    'rockpool_databases_unloaded',
    'Databases that only the continuous backup has.',
    () => state()?.unloaded ?? 0,
  );
}
