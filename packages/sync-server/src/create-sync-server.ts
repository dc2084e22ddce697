import { RockpoolError } from '@rockpool/shared';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { adminOf, appOf } from './assembly/apps.ts';
import type { Attached, Base, Parts } from './assembly/base.ts';
import { openDatabases } from './assembly/databases.ts';
import { busStates, exposeBackup, exposeBus, exposeGauges, exposeResources, exposeShards } from './assembly/gauges.ts';
import { withoutUndefinedNumbers } from './assembly/number-options.ts';
import { openForwarding, openJobs, openServerCopies, openSockets, openStores } from './assembly/open-parts.ts';
import { toBytes, tokenRules } from './assembly/token-rules.ts';
import { clientAddresses } from './auth/client-address.ts';
import { Gate, isDatabaseId } from './auth/gate.ts';
import { issueToken, jwtAuthenticate } from './auth/jwt.ts';
import { MEMBER_LIMITS, Members } from './auth/members.ts';
import { toServerDatabase } from './backend/server-database.ts';
import { type BackupState, sumOfStates } from './backup/backup-state.ts';
import { checkOptions, type Secrets } from './assembly/check-options.ts';
import { limitRefusals } from './observe/limited-log.ts';
import { errorFields, logToStderr, neverThrows } from './observe/log-line.ts';
import { ServerMetrics } from './observe/server-metrics.ts';
import { Tracing } from './observe/tracing.ts';
import { type Sockets } from './session/accept-sockets.ts';
import { Devices } from './session/devices.ts';
import { acceptInProcess } from './session/in-process.ts';
import { urlOfServer } from './session/session-forwarding.ts';
import { closeInOrder } from './store/close-in-order.ts';
import { databaseIds } from './store/data-directory.ts';
import { lockDirectory, type DirectoryLock } from './store/directory-lock.ts';
import { DiskWatch } from './store/disk-watch.ts';
import { finishFileChanges } from './store/file-change.ts';
import { TenantSizes } from './store/tenant-sizes.ts';
import { requireFinishedRestore } from './store/unfinished-restore.ts';
import { UnservableDatabases } from './store/unservable-databases.ts';
import type { SyncServer, SyncServerOptions } from './sync-server.ts';
import { DatabaseThreads } from './threads/database-threads.ts';
import { SERVER_VERSION } from './sync-server.ts';

export const SYNC_PATH = '/sync';

/**
 * Creates a sync server to mount in another program. Throws `config-invalid` with every problem at once, and
 * `database-unavailable` when another server uses the directory.
 */
export function createSyncServer(given: SyncServerOptions): SyncServer {
  const options = withoutUndefinedNumbers(given);
  const { dataDir } = options;
  const secrets = { secret: toBytes(options.secret), previousSecret: toBytes(options.previousSecret) };
  checkOptions(options, secrets);
  mkdirSync(dataDir, { recursive: true });
  requireFinishedRestore(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    return openServer(options, secrets, lock);
  } catch (error) {
    // The host may try again, for example once the disk has space.
    lock.release();
    throw error;
  }
}

function openServer(options: SyncServerOptions, secrets: Secrets, lock: DirectoryLock): SyncServer {
  const { dataDir, now = Date.now } = options;
  const log = limitRefusals(neverThrows(options.log ?? logToStderr));
  const tracing = options.tracing === true ? Tracing.load(SERVER_VERSION, log) : null;
  const metrics = new ServerMetrics();
  const stores = openStores(options, log, metrics);
  finishFileChanges(dataDir, (databaseId) => void stores.memberStore.forgetDatabase(databaseId));
  const addressOf = clientAddresses(options.trustedProxies ?? []);
  const diskWatch = new DiskWatch(stores.store);
  const tenants = new TenantSizes(dataDir, (databaseId) => stores.store.pathOf(databaseId), options.tenantOf, log);
  const base: Base = {
    tracing,
    ...{ options, now, log, metrics, stores, addressOf, diskWatch, tenants },
    monotonicMs: options.now ?? (() => performance.now()),
    devices: new Devices(),
    unservable: new UnservableDatabases(dataDir, options.schema),
    run: randomUUID(),
  };
  const jobs = openJobs(base);
  const members = new Members({
    store: stores.memberStore,
    bus: stores.bus,
    onChanged: (databaseId) => sockets.reauthorize(databaseId),
    onError: (error) => log('store-error', errorFields(error)),
    now,
    limits: { ...MEMBER_LIMITS, ...options.quotas },
  });
  const rules = tokenRules(options, secrets);
  const gate = new Gate({
    authenticate:
      options.authenticate ??
      jwtAuthenticate(rules, now, (error) => {
        metrics.keySetFailures.add();
        log('key-set-outdated', errorFields(error));
      }),
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
  exposeBackup(metrics, backupState, options);
  const stopWatching = metrics.watchProcess();
  const attached: Attached = {};
  const forwarding = openForwarding(base, attached);
  const close = (): Promise<void> =>
    closeInOrder(
      () => Promise.all([sockets.close(), jobs.close(), forwarding?.close()]),
      () => databases.close(),
      () => members.close(),
      () => serverCopies?.close(),
      () => stores.close(),
      () => lock.release(),
      stopWatching,
      () => diskWatch.close(),
    );
  const parts = { base, secret: secrets.secret, rules, members, gate, databases, sockets, jobs };
  return syncServer({ ...parts, attached, forwarding, backupState, close });
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
    connect: (client) => acceptInProcess((socket) => sockets.begin(socket, null), client),
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
function requireServable({ options: { dataDir, postgres }, log, unservable }: Base): void {
  if (postgres !== undefined) return;
  const found = unservable.find();
  for (const [database, error] of found) log('database-unservable', { database, ...errorFields(error) });
  const [first] = found.values();
  if (first !== undefined && found.size === databaseIds(dataDir).length) throw first;
}
