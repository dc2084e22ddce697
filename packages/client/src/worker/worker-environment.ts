import type { Transport } from '../rpc/transport.ts';
import type { Locks } from './leader/election.ts';
import type { BroadcastPort } from './leader/tab-channel.ts';
import type { Persistence } from '../rpc/persistence.ts';
import type { StorageEnvironment } from './storage/choose-medium.ts';

/** The environment of a worker: a browser, or a simulated device in Node. */
export interface WorkerEnvironment extends StorageEnvironment {
  readonly locks: Locks;
  openPort(channelName: string): BroadcastPort;
  /** Used instead of the transport that the options name. Default: none. */
  readonly transport?: Transport | undefined;
  /** Throws `storage-unsupported` if tabs could not find each other. */
  requireTabSupport(): void;
  /** Clients with one scope share one database. */
  scopeOf(name: string, persistence: Persistence): string;
}
