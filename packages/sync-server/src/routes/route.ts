import type { Members } from '../auth/members.ts';
import type { Principal } from '../auth/principal.ts';
import type { HttpSessions } from '../session/http-sessions.ts';
import type { Snapshot } from '../snapshot/snapshots.ts';
import type { ServerMetrics } from '../observe/server-metrics.ts';
import type { Readiness } from '../store/store.ts';
import type { Operation } from '../auth/role.ts';

/** What routes work with. */
export interface Services {
  readonly members: Members;
  readonly httpSessions: HttpSessions;
  readonly metrics: ServerMetrics;
  /** `unavailable` also while the server stops. */
  readonly readiness: () => Promise<Readiness>;
  /** How many databases are offline because their files are damaged. */
  readonly damagedDatabases: () => number;
  readonly now: () => number;
  readonly schemaHash: string;
  /** Null where the database is too small for one, or the principal may not read all of it. */
  readonly snapshot: (databaseId: string, principal: Principal) => Promise<Snapshot | null>;
}

/** A request that may be answered: whoever asks was let in, as the route's `access` says. */
export interface Asked {
  readonly services: Services;
  /** Nobody in particular on public routes. */
  readonly principal: Principal;
  /** Of the path; empty where it names none. */
  readonly databaseId: string;
  param(name: string): string;
  readonly request: Request;
}

/** One thing that the server answers over plain HTTP. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:databaseId` names the database that `access` is about. */
  readonly path: string;
  /**
   * `public`: anybody. `principal`: anybody with a token that is in order. Else what they must be allowed to do in the
   * database of the path.
   */
  readonly access: 'public' | 'principal' | Operation;
  readonly answer: (asked: Asked) => Response | Promise<Response>;
}

export const NOBODY: Principal = { id: '', expiresAtMs: 0 };
