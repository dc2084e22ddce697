import type { Welcome } from '#shared/index.ts';
import type { Role } from '#sync-server/auth/role.ts';
import type { Committed } from './postgres/postgres-storage.ts';

/** What a server process reports to the simulation and asks it. */
export interface ProcessEvents {
  /** Called before the process does this. May kill the process. */
  readonly reaches: (at: 'statement' | 'in commit' | 'after commit' | 'send') => void;
  /** Throws if the disk has no room. */
  readonly requireRoom: () => void;
  /** Whether pushes are refused because the tenant of the database has reached its quota. */
  readonly isQuotaReached: () => boolean;
  /** Reports a failure to the operator. */
  readonly onFailure: (error: unknown) => void;
  /** The committed state of the store that the processes share; null if this process does not share it. */
  readonly committed: () => Committed | null;
  /** A session begins, with the state that was committed when its hello arrived. */
  readonly onWelcome: (welcome: Welcome, before: Committed) => void;
  /** A commit of another process has arrived. */
  readonly onFollowed: () => void;
  /** Null if revoked. */
  readonly roleOf: (device: string) => Role | null;
  /** A transaction of the file begins. */
  readonly onTransaction: () => void;
  readonly onLogLine: (event: string, fields: Readonly<Record<string, unknown>>) => void;
  /** The state of a document before and after it was compacted. */
  readonly onCompacted: (before: Uint8Array, after: Uint8Array) => void;
}
