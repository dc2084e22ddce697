import { memoryMedium, type Medium } from '@rockpool/vfs-opfs';
import type { Client } from '../client.ts';
import type { ClientOptions, SyncOptions } from '../interface/client-options.ts';
import type { ClientEnvironment } from '../client-session.ts';
import { openClient } from '../open-client.ts';
import type { Transport, TransportName } from '../rpc/transport.ts';
import { createHost } from '../worker/host.ts';
import { loadSqlite } from '../worker/sqlite/load-sqlite.node.ts';
import type { WorkerEnvironment } from '../worker/worker-environment.ts';
import { connectInProcess } from './connect-in-process.ts';
import { ProcessTabs } from './process-tabs.ts';
import { unrefWebSockets } from './unref-web-sockets.ts';

/** The options of a browser's client, except that data is kept in memory, which `status.persistence` reports. */
export interface NodeClientOptions extends Omit<ClientOptions, 'persistence' | 'durability' | 'sync'> {
  readonly sync?: NodeSyncOptions;
}

export interface NodeSyncOptions extends Omit<SyncOptions, 'transport'> {
  /**
   * How to reach the server: a name as in browsers, `inProcess(server)`, or a transport of your own. Default `auto`.
   */
  readonly transport?: TransportName | Transport;
}

/**
 * A device with one browser, simulated in this process. Its clients share databases by name as tabs do, and find them
 * again when they reopen them.
 */
export interface Device {
  /** Rejects like the `createClient` of browsers. */
  createClient(options: NodeClientOptions): Promise<Client>;
}

/** Creates a device without databases. Its data is freed with the last reference to it. */
export function createDevice(): Device {
  return createDeviceOn(memoryMedium());
}

/** Creates a device on these files, so that a test can copy them. */
export function createDeviceOn(medium: Medium): Device {
  const worker = workerEnvironment(medium);
  return {
    async createClient(given) {
      const { sync, ...options } = { ...given }; // None, from plain JavaScript, is refused later, with a code.
      const transport = sync?.transport;
      const own = typeof transport === 'object' ? transport : undefined;
      const environment: ClientEnvironment = {
        connect() {
          if (sync !== undefined && own === undefined) unrefWebSockets(sync.url);
          return connectInProcess(createHost({ ...worker, transport: own }));
        },
        page: () => null,
        deleteDatabase: (name) => createHost(worker).deleteDatabase(name),
      };
      const named = typeof transport === 'object' ? undefined : transport;
      const syncOptions = sync === undefined ? {} : { sync: withTransport(sync, named) };
      return openClient({ ...options, ...syncOptions, persistence: 'memory' }, environment);
    },
  };
}

function withTransport(sync: NodeSyncOptions, name: TransportName | undefined): SyncOptions {
  const { transport: _, ...others } = { ...sync }; // Null from plain JavaScript is refused later, with a code.
  return name === undefined ? others : { ...others, transport: name };
}

function workerEnvironment(medium: Medium): WorkerEnvironment {
  const tabs = new ProcessTabs();
  const place = { persistence: 'memory', medium } as const;
  return {
    locks: tabs.locks,
    openPort: (channelName) => tabs.openPort(channelName),
    requireTabSupport: () => undefined,
    loadSqlite,
    chooseMedium: async () => place,
    scopeOf: (name) => name,
    places: async () => [place],
  };
}
