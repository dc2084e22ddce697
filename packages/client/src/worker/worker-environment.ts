import type { Locks } from './leader/election.ts';
import type { BroadcastPort } from './leader/tab-channel.ts';
import type { Persistence, PersistenceChoice } from '../rpc/persistence.ts';
import type { SqliteRuntime } from './sqlite/sqlite-runtime.ts';
import type { ChosenMedium } from './storage/choose-medium.ts';

/** The environment of a worker: a browser, or a simulated device in Node. */
export interface WorkerEnvironment {
  readonly locks: Locks;
  openPort(channelName: string): BroadcastPort;
  /** Throws `storage-unsupported` if clients could not find each other. */
  requireTabSupport(): void;
  loadSqlite(): Promise<SqliteRuntime>;
  /** Throws as documented in choose-medium.ts. */
  chooseMedium(choice: PersistenceChoice, name: string): Promise<ChosenMedium>;
  /** Clients with one scope share one database. */
  scopeOf(name: string, persistence: Persistence): string;
  /** All media of this environment that keep databases. */
  places(): Promise<readonly ChosenMedium[]>;
}
