import type { MetricsAccess } from '../auth/metrics-access.ts';
import type { Members } from '../auth/members.ts';
import type { Principal } from '../auth/principal.ts';
import type { BackupState } from '../backup/backup-state.ts';
import type { HistoryRequest } from '../history/answer-history.ts';
import type { PastMoment } from '../history/past-moment.ts';
import type { PastState } from '../history/past-states.ts';
import type { SessionForwarding } from '../session/session-forwarding.ts';
import type { HttpSessions } from '../session/http-sessions.ts';
import type { Snapshot } from '../snapshot/snapshots.ts';
import type { LogFields, Logger } from '../observe/log-line.ts';
import type { ServerMetrics } from '../observe/server-metrics.ts';
import type { Readiness } from '../store/store.ts';
import type { Operation } from '../auth/role.ts';
import type { ChangeRates } from './change-rates.ts';

/** The parts of the server that routes use. */
export interface Services {
  readonly log: Logger;
  readonly members: Members;
  readonly changeRates: ChangeRates;
  readonly httpSessions: HttpSessions;
  /** Null for a server of one instance. */
  readonly forwarding: SessionForwarding | null;
  readonly metrics: ServerMetrics;
  readonly metricsAccess: MetricsAccess;
  /** Also resolves with `unavailable` while the server stops. */
  readonly readiness: () => Promise<Readiness>;
  /** The number of databases that are offline because their files are damaged. */
  readonly damagedDatabases: () => number;
  /** The number of databases that this server cannot open. */
  readonly unservableDatabases: () => number;
  /** How many shards could not commit when they were last asked. Null for a server without shards. */
  readonly unavailableShards: () => number | null;
  /** Null for a server of one instance. */
  readonly bus: () => 'connected' | 'disconnected' | null;
  /** Null if there is no continuous backup. */
  readonly backup: () => BackupState | null;
  readonly now: () => number;
  /** The right that a principal needs to read versions and past states. */
  readonly historyAccess: Operation;
  /** See answerHistory. */
  readonly history: (databaseId: string, principal: Principal, request: HistoryRequest) => Promise<Uint8Array>;
  /** Only for principals that may read every row. The receiver deletes the file. See writePastState for errors. */
  readonly pastState: (databaseId: string, principal: Principal, moment: PastMoment) => Promise<PastState>;
  /** Null if the database is too small for one, or the principal may not read all of it. See Databases.snapshot. */
  readonly snapshot: (databaseId: string, schemaHash: string, principal: Principal) => Promise<Snapshot | null>;
}

/** A request that has passed the access check of its route. */
export interface RouteRequest {
  readonly services: Services;
  /** ANONYMOUS on public routes. */
  readonly principal: Principal;
  /** The database id in the path, or an empty string if the path has none. */
  readonly databaseId: string;
  /** The address of the client (auth/client-address.ts). Null if it is unknown or that of this machine. */
  readonly address: string | null;
  param(name: string): string;
  readonly request: Request;
}

/** One endpoint over plain HTTP. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:databaseId` is the database that `access` refers to. */
  readonly path: string;
  /**
   * `public` needs no token, `principal` any valid token, and an Operation the right to it in the database of the path.
   * `history` needs the right of the server's `historyRole`.
   */
  readonly access: 'public' | 'principal' | 'history' | Operation;
  readonly answer: (asked: RouteRequest) => Response | Promise<Response>;
}

export const ANONYMOUS: Principal = { id: '', expiresAtMs: 0 };

/** Logs a change by the request, with its author and address. */
export function logChange(
  { services, principal, databaseId, address }: RouteRequest,
  event: string,
  fields: LogFields,
): void {
  services.log(event, { database: databaseId, principal: principal.id, address, ...fields });
}
