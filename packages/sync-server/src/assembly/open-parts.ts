import { encodeSchema } from '@rockpool/shared';
import { AdminJobs } from '../admin/admin-jobs.ts';
import type { Principal } from '../auth/principal.ts';
import { BACKUP_INTERVAL_MS, BACKUP_KEEP_MS } from '../backup/backup-rules.ts';
import { openDestination } from '../backup/open-destination.ts';
import { ServerCopies } from '../backup/server-copies.ts';
import type { Databases } from '../database/databases.ts';
import { type Logger, errorFields } from '../observe/log-line.ts';
import { type ServerMetrics } from '../observe/server-metrics.ts';
import { divideConnections } from '../postgres/connection.ts';
import { Sockets } from '../session/accept-sockets.ts';
import { ConnectionQuota } from '../session/connection-quota.ts';
import { SESSION_LIMITS } from '../session/limits.ts';
import { SessionForwarding } from '../session/session-forwarding.ts';
import type { SessionContext } from '../session/session.ts';
import { KnownSchemas, rememberSchema, rememberedSchemas } from '../store/known-schemas.ts';
import { requireMembers } from '../store/open-members.ts';
import { type Stores, postgresStores, sqliteStores } from '../store/open-stores.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import type { SyncServerOptions } from '../sync-server.ts';
import type { Attached, Base } from './base.ts';

export function openStores(options: SyncServerOptions, log: Logger, metrics: ServerMetrics): Stores {
  const { dataDir, schema, olderSchemas = [], postgres, nats } = options;
  // Before the schema is stored, which says that a server has run here.
  if (postgres === undefined) requireMembers(dataDir);
  rememberSchema(dataDir, schema);
  const remembered = rememberedSchemas(dataDir, (file, error) =>
    log('schema-unreadable', { file, ...errorFields(error) }),
  );
  const schemas = new KnownSchemas([...remembered, ...olderSchemas]);
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

export function openSockets(
  base: Base,
  { gate, databases }: Pick<SessionContext, 'gate'> & { readonly databases: Databases },
): Sockets {
  const { options, now, monotonicMs, log, metrics, addressOf, devices, tracing } = base;
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
      monotonicMs,
      log,
      limits,
      connectionQuota: new ConnectionQuota(limits.maxSessionsPerPrincipal, limits.maxReceivedBytesPerPrincipal),
      metrics,
      tracing,
      devices: options.admin === undefined ? undefined : devices,
    },
  });
}

/** A principal that may open a database may read all of it. Partial sync would restrict the rows here. */
export function readableRows(_principal: Principal, _databaseId: string): ReadableRows {
  return 'everything';
}

export function openJobs({ options: { postgres, schema, backup }, stores }: Base): AdminJobs {
  return new AdminJobs({
    pathOf: (databaseId) => stores.store.pathOf(databaseId),
    backup: backup ?? null,
    postgres: postgres ?? null,
    schema: encodeSchema(schema),
  });
}

export function openForwarding({ options, monotonicMs, stores }: Base, attached: Attached): SessionForwarding | null {
  if (stores.instances === null) return null;
  return new SessionForwarding({
    directory: stores.instances,
    ownUrl: () => options.instanceUrl ?? attached.url?.() ?? null,
    now: monotonicMs,
  });
}

export function openServerCopies({ options, log, run }: Base): ServerCopies | null {
  const { backup, dataDir } = options;
  if (backup === undefined) return null;
  const { intervalMs = BACKUP_INTERVAL_MS, keepMs = BACKUP_KEEP_MS } = backup;
  const destination = openDestination(backup, process.env);
  return new ServerCopies({ dataDir, destination, run, intervalMs, keepMs, log, now: Date.now });
}
