import { buildSchema, encodeSchema } from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { ProcessTabs } from '../../src/node/process-tabs.ts';
import type { OpenOptions } from '../../src/rpc/worker-api.ts';
import { createHost } from '../../src/worker/host.ts';
import type { WorkerEnvironment } from '../../src/worker/worker-environment.ts';
import { account, testRuntime } from './test-database.ts';

/** Opens a database with the table `account`, without a server. */
export const MEMORY_OPTIONS: OpenOptions = {
  name: 'app',
  schema: encodeSchema(buildSchema([account])),
  migrations: null,
  sync: null,
  durability: 'relaxed',
  persistence: 'memory',
};

/** The host of the only tab of this process, with its databases in memory. `part` replaces parts of its environment. */
export function memoryHost(part: Partial<WorkerEnvironment> = {}): ReturnType<typeof createHost> {
  const tabs = new ProcessTabs();
  const place = { persistence: 'memory', medium: memoryMedium() } as const;
  return createHost({
    locks: tabs.locks,
    openPort: (channelName) => tabs.openPort(channelName),
    requireTabSupport: () => undefined,
    loadSqlite: async () => testRuntime,
    chooseMedium: async () => place,
    scopeOf: (name) => name,
    places: async () => [place],
    ...part,
  });
}
