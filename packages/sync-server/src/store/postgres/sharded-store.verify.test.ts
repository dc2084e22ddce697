import { expect } from 'vitest';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { createShards } from '../../../testing/shards-under-test.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';
import { InProcessBus } from '../../bus/in-process-bus.ts';
import { Connections } from '../../postgres/connection.ts';
import { storeContract } from '../store.contract.ts';
import { PostgresStore } from './postgres-store.ts';
import { ShardedStore } from './sharded-store.ts';
import { Shards } from './shards.ts';

const postgres = postgresUnderTest();

storeContract('shards', async () => {
  const folder = temporaryFolder();
  const list = await createShards(postgres.server, [1, 1]);
  const connections = list.map(({ url }) => new Connections(url));
  return {
    open: (schema) => {
      const bus = new InProcessBus();
      return new ShardedStore(
        new Shards(
          list.map((shard, i) => ({
            ...shard,
            connections: connections[i] as Connections,
            store: new PostgresStore({
              connections: connections[i] as Connections,
              bus,
              dataDir: folder,
              copiesFolder: `copies-${i}`,
              schema,
              measureCommit: () => undefined,
              onError: (error) => expect.unreachable(String(error)),
            }),
          })),
        ),
      );
    },
    close: async () => {
      await Promise.all(connections.map((own) => own.close()));
    },
  };
});
