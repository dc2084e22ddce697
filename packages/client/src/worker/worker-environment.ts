import type { Locks } from './leader/election.ts';
import type { BroadcastPort } from './leader/tab-channel.ts';
import type { Persistence, PersistenceChoice } from '../rpc/persistence.ts';
import type { SqliteRuntime } from './sqlite/sqlite-runtime.ts';
import type { ChosenMedium } from './storage/choose-medium.ts';

/** What a worker needs of where it runs: of a browser, or of a device that is played in Node. */
export interface WorkerEnvironment {
  readonly locks: Locks;
  openPort(channelName: string): BroadcastPort;
  /** Throws `storage-unsupported` where clients could not find each other. */
  requireTabSupport(): void;
  loadSqlite(): Promise<SqliteRuntime>;
  /** Throws as choose-medium.ts says. */
  chooseMedium(choice: PersistenceChoice, name: string): Promise<ChosenMedium>;
  /** Clients with one scope share one database. */
  scopeOf(name: string, persistence: Persistence): string;
  /** Every place here that keeps databases. */
  places(): Promise<readonly ChosenMedium[]>;
}
