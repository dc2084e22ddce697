import { PROTOCOL_VERSION } from '@rockpool/shared';
import { statfsSync } from 'node:fs';
import type { BackupState } from '../backup/backup-state.ts';
import type { BusState } from '../bus/bus.ts';
import { type DatabaseHost } from '../database/database-host.ts';
import { type ServerMetrics } from '../observe/server-metrics.ts';
import { type Sockets } from '../session/accept-sockets.ts';
import type { Stores } from '../store/open-stores.ts';
import { DatabaseThreads } from '../threads/database-threads.ts';
import { SERVER_VERSION, type SyncServerOptions } from '../sync-server.ts';
import type { Base } from './base.ts';

const LARGEST_TENANTS = 10;

export function exposeGauges(
  metrics: ServerMetrics,
  sockets: Sockets,
  databases: DatabaseHost | DatabaseThreads,
): void {
  metrics.gauge('rockpool_sockets', 'Open sessions, over any transport.', () => sockets.count);
  metrics.gauge(
    'rockpool_sockets_unauthenticated',
    'Open sessions that have not sent a valid token.',
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
    'Event loop delay of the slowest thread in the last second, 99th percentile, or the time for which it has been busy with one task.',
    () => databases.loopDelaySeconds,
  );
  metrics.gauge('rockpool_thread_utilization', 'Share of the last second that the busiest thread was working.', () =>
    Math.max(...databases.states.map(({ utilization }) => utilization)),
  );
}

/** Declares the gauges of versions, disk, tenants, and connections to PostgreSQL. */
export function exposeResources({ options, metrics, stores, diskWatch, tenants, unservable }: Base): void {
  metrics.gauge(
    'rockpool_databases_unservable',
    'Databases with a schema or format that this server did not support when it started, and that were not replaced or deleted since.',
    () => unservable.count,
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
  metrics.gauge('rockpool_disk_full', 'Whether only the disk space that is reserved for deletes is left.', () =>
    Number(diskWatch.isDiskFull),
  );
  metrics.gauge('rockpool_ready', 'Whether the server could commit when it last asked its store, every 2 s.', () =>
    Number(diskWatch.isReady),
  );
  const disk = (): { readonly free: number; readonly total: number } => {
    try {
      const { bavail, blocks, bsize } = statfsSync(options.dataDir);
      return { free: bavail * bsize, total: blocks * bsize };
    } catch {
      // The disk does not respond. NaN reports the values as unknown; an exception would lose all metrics.
      return { free: Number.NaN, total: Number.NaN };
    }
  };
  metrics.gauge('rockpool_disk_free_bytes', 'Free bytes of the disk of the data directory.', () => disk().free);
  metrics.gauge('rockpool_disk_size_bytes', 'Size of the disk of the data directory.', () => disk().total);
  metrics.tenantGauge(
    'rockpool_tenant_bytes',
    'Bytes of the databases of the ten largest tenants, measured at most every 10 s.',
    () => tenants.largest(LARGEST_TENANTS).map(([tenant, bytes]) => [{ tenant }, bytes] as const),
  );
  metrics.gauge('rockpool_tenants', 'Tenants with databases on the disk, as last measured.', () => tenants.count);
  const { connectionCounts } = stores;
  if (connectionCounts === undefined) return;
  metrics.gaugeOf(
    'rockpool_postgres_connections',
    'Connections of the accepting thread to PostgreSQL, by state, and queries that wait for a connection.',
    () =>
      connectionCounts().flatMap(({ labels, counts }) =>
        Object.entries(counts).map(([state, count]) => [{ ...labels, state }, count] as const),
      ),
  );
}

export function exposeShards(metrics: ServerMetrics, { shardStates }: Stores): void {
  if (shardStates === undefined) return;
  metrics.gaugeOf('rockpool_shard_ready', 'Whether each shard could commit when it was last asked.', () =>
    [...shardStates()].map(([shard, state]) => [{ shard }, Number(state === 'ready')] as const),
  );
}

export function exposeBus(metrics: ServerMetrics, states: () => readonly BusState[]): void {
  metrics.gauge(
    'rockpool_bus_connected',
    'Whether messages of other instances arrive. If not, their commits arrive up to a second late.',
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

/** Declares the metrics of the continuous backup, which are 0 if there is none. */
export function exposeBackup(
  metrics: ServerMetrics,
  state: () => BackupState | null,
  { backup, postgres }: Pick<SyncServerOptions, 'backup' | 'postgres'>,
): void {
  if (postgres === undefined)
    metrics.gauge(
      'rockpool_backup_enabled',
      'Whether the server makes a continuous backup. Missing with PostgreSQL, which has its own backups.',
      () => Number(backup !== undefined),
    );
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
  metrics.gauge('rockpool_backup_failing', 'Whether writes to the destination of the continuous backup fail.', () =>
    Number((state()?.outage ?? null) !== null),
  );
  metrics.counter(
    'rockpool_backup_objects_total',
    'Objects stored by the continuous backup.',
    () => state()?.objects ?? 0,
  );
  metrics.counter(
    'rockpool_backup_bytes_total',
    'Bytes of the objects stored by the continuous backup.',
    () => state()?.storedBytes ?? 0,
  );
  metrics.counter(
    'rockpool_backup_failures_total',
    'Failed copies of the continuous backup.',
    () => state()?.failures ?? 0,
  );
  metrics.counter(
    'rockpool_backup_restarts_total',
    'Copies that restarted because the record of what is copied was damaged.',
    () => state()?.restarts ?? 0,
  );
  metrics.gauge(
    'rockpool_databases_unloaded',
    'Databases that exist only in the continuous backup.',
    () => state()?.unloaded ?? 0,
  );
}

/**
 * The bus states of the accepting thread, then of each thread that owns databases. Empty for a server of one instance.
 */
export function busStates({ bus }: Stores, databases: DatabaseHost | DatabaseThreads): readonly BusState[] {
  if (bus === null) return [];
  const states = databases instanceof DatabaseThreads ? databases.states.map((state) => state.bus) : [];
  return [bus.state, ...states.filter((state) => state !== null)];
}

export function isBusConnected(states: readonly BusState[]): boolean {
  return states.every(({ isConnected }) => isConnected);
}
