import type { AdminJobs } from '../admin/admin-jobs.ts';
import type { AddressOf } from '../auth/client-address.ts';
import type { Gate } from '../auth/gate.ts';
import type { TokenRules } from '../auth/jwt.ts';
import type { Members } from '../auth/members.ts';
import type { BackupState } from '../backup/backup-state.ts';
import type { DatabaseHost } from '../database/database-host.ts';
import type { Logger } from '../observe/log-line.ts';
import type { ServerMetrics } from '../observe/server-metrics.ts';
import type { Tracing } from '../observe/tracing.ts';
import type { Sockets } from '../session/accept-sockets.ts';
import type { Devices } from '../session/devices.ts';
import type { SessionForwarding } from '../session/session-forwarding.ts';
import type { DiskWatch } from '../store/disk-watch.ts';
import type { Stores } from '../store/open-stores.ts';
import type { TenantSizes } from '../store/tenant-sizes.ts';
import type { UnservableDatabases } from '../store/unservable-databases.ts';
import type { SyncServerOptions } from '../sync-server.ts';
import type { DatabaseThreads } from '../threads/database-threads.ts';

/** The state that the parts of a server share. */
export interface Base {
  readonly options: SyncServerOptions;
  readonly now: () => number;
  /** A clock for durations, in ms, which is never set. */
  readonly monotonicMs: () => number;
  readonly log: Logger;
  readonly metrics: ServerMetrics;
  readonly stores: Stores;
  /** Null if no spans are recorded. */
  readonly tracing: Tracing | null;
  readonly addressOf: AddressOf;
  readonly diskWatch: DiskWatch;
  readonly tenants: TenantSizes;
  readonly devices: Devices;
  readonly unservable: UnservableDatabases;
  /** A random id of this run. */
  readonly run: string;
}

/** The first HTTP server that the host program has attached. */
export interface Attached {
  url?: () => string | null;
}

/** The parts of a running server. */
export interface Parts {
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
  /** Null for a server of one instance. */
  readonly forwarding: SessionForwarding | null;
  /** Ends sessions first and releases the directory last. */
  readonly close: () => Promise<void>;
}
