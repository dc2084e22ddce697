import type { CopyFacts } from '../backup/copy-record.ts';
import type { Destination } from '../backup/destination.ts';
import type { Members } from '../auth/members.ts';
import type { LogFields } from '../observe/log-line.ts';
import type { Devices, SessionFacts } from '../session/devices.ts';
import type { Store } from '../store/store.ts';
import type { AdminJobs } from './admin-jobs.ts';
import type { Lifecycle } from './lifecycle.ts';

/** The parts of the server that the admin API uses. */
export interface AdminServices {
  readonly store: Store;
  readonly members: Members;
  readonly devices: Devices;
  /** The sessions of principals that may read their database. */
  readonly sessions: () => readonly SessionFacts[];
  readonly jobs: AdminJobs;
  readonly lifecycle: Lifecycle;
  /** The state of the continuous backup of a database. Null if the database is not backed up. */
  readonly copyFacts: (databaseId: string) => Pick<CopyFacts, 'timeMs' | 'watermark'> | null;
  /** Where the continuous backup is. Null if there is none. */
  readonly backupDestination: Destination | null;
  /** Facts about the server, for the page. */
  readonly about: AboutServer;
  readonly now: () => number;
}

export interface AboutServer {
  readonly version: string;
  readonly schemaHash: string;
  readonly store: 'files' | 'postgres';
  readonly threads: number;
}

export interface AdminRequest {
  readonly services: AdminServices;
  /** A valid id, or an empty string if the path has none. */
  readonly databaseId: string;
  param(name: string): string;
  readonly request: Request;
  /** Adds fields to the request's line in the log. */
  note(fields: LogFields): void;
}

/** One endpoint of the admin API. */
export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path below `/admin/api`. */
  readonly path: string;
  /** Throws a RockpoolError or an AdminRefusal (admin-refusal.ts). */
  readonly answer: (asked: AdminRequest) => Response | Promise<Response>;
}
