import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';
import { Connections } from '../src/postgres/connection.ts';
import type { Shard } from '../src/postgres/shard.ts';
import { InProcessBus } from '../src/bus/in-process-bus.ts';
import { PostgresStore } from '../src/store/postgres/postgres-store.ts';
import { Shards } from '../src/store/postgres/shards.ts';
import type { SyncServerOptions } from '../src/sync-server.ts';
import type { PostgresAccess } from './postgres-access.ts';
import { TEST_SCHEMA } from './test-schema.ts';
import { TestServer } from './test-server.ts';

/** A shard for tests: a PostgreSQL database of its own. */
export interface TestShard extends Shard {
  /** The name of the PostgreSQL database. */
  readonly database: string;
}

/** Creates PostgreSQL databases `a`, `b`, …, whose weights decide which of them new databases of tests go to. */
export function createShards(postgres: PostgresAccess, weights: readonly number[]): Promise<TestShard[]> {
  return Promise.all(
    weights.map(async (weight, i) => {
      const { url, name } = await postgres.createPreparedDatabase();
      return { name: String.fromCharCode(97 + i), url, weight, database: name };
    }),
  );
}

/** The shards without the members that only tests have. */
export function listOf(shards: readonly TestShard[]): Shard[] {
  return shards.map(({ name, url, weight }) => ({ name, url, weight }));
}

/** Starts an instance on shards and waits until it is ready. It stops when the test ends. */
export async function startInstance(
  shards: readonly TestShard[],
  options: Partial<SyncServerOptions> = {},
): Promise<TestServer> {
  const server = await TestServer.start(temporaryFolder(), { postgres: listOf(shards), ...options });
  onTestFinished(() => server.stop());
  await server.sync.ready();
  return server;
}

/** Opens the shards as a command does. `connect` makes the connections, which may fail on purpose. */
export function openShards(
  list: readonly Shard[],
  connect: (url: string) => Connections = (url) => new Connections(url),
): { readonly shards: Shards; close(): Promise<void> } {
  const dataDir = temporaryFolder();
  const bus = new InProcessBus();
  const shards = new Shards(
    list.map((shard, i) => {
      const connections = connect(shard.url);
      const store = new PostgresStore({
        connections,
        bus,
        dataDir,
        copiesFolder: `copies-${i}`,
        schema: TEST_SCHEMA,
        measureCommit: () => undefined,
        onError: () => undefined,
      });
      return { ...shard, connections, store };
    }),
  );
  return {
    shards,
    close: async () => {
      await shards.closeStores();
      await Promise.all(shards.all.map(({ connections }) => connections.close()));
    },
  };
}
