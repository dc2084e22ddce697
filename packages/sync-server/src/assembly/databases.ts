import { encodeSchema } from '@rockpool/shared';
import { availableParallelism } from 'node:os';
import { DatabaseHost, type HostRules } from '../database/database-host.ts';
import type { FollowedCommit } from '../observe/push-trace.ts';
import { divideConnections } from '../postgres/connection.ts';
import type { SyncServerOptions } from '../sync-server.ts';
import { DatabaseThreads } from '../threads/database-threads.ts';
import { removeThreadFolders } from '../threads/thread-folders.ts';
import type { Base } from './base.ts';

/** Opens the databases on threads of their own, or on this one. */
export function openDatabases(base: Base): DatabaseHost | DatabaseThreads {
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
        : tenants.watch(() => databases.limitTenants(tenants.databasesOver(maxTenantBytes), tenants.unnamed)),
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
    // PostgreSQL has its own checksums: the files are working copies, which are rebuilt at each start.
    scrub: postgres === undefined ? scrub : null,
    deliveryPartBytes,
    backup: backup === undefined ? null : { ...backup, run },
  };
}

function followedIn({ tracing }: Pick<Base, 'tracing'>): (followed: FollowedCommit) => void {
  return (followed) => tracing?.followed(followed);
}
