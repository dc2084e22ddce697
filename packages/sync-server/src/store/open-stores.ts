import { join } from 'node:path';
import type { Schema } from '@rockpool/shared';
import type { MemberStore } from '../auth/member-store.ts';
import { PostgresMembers } from '../auth/postgres-members.ts';
import type { Bus } from '../bus/bus.ts';
import { NatsBus, type NatsOptions } from '../bus/nats-bus.ts';
import { PostgresBus } from '../bus/postgres-bus.ts';
import { openMembers } from './open-members.ts';
import { PostgresInstances, type InstanceDirectory } from '../postgres/instance-directory.ts';
import { Connections } from '../postgres/connection.ts';
import type { KnownSchemas } from './known-schemas.ts';
import type { PostgresSource, Shard } from '../postgres/shard.ts';
import { PostgresStore } from './postgres/postgres-store.ts';
import { ShardedStore } from './postgres/sharded-store.ts';
import { Shards } from './postgres/shards.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { Readiness, Store } from './store.ts';

/** The databases of a server, and the bus between its instances. */
export interface DatabaseStores {
  readonly store: Store;
  /** Null if there is one instance. */
  readonly bus: Bus | null;
  /** The schemas of clients that are served. */
  readonly schemas: KnownSchemas;
  /** Resolves once the store accepts commits. Rejects with the reason if it cannot accept them. */
  ready(): Promise<void>;
  /** The connections to each PostgreSQL server, by state. The labels name the server. Undefined without PostgreSQL. */
  readonly connectionCounts?: () => readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly counts: Readonly<Record<string, number>>;
  }[];
  /** Whether each shard could commit when it was last asked. Undefined without shards. */
  readonly shardStates?: () => ReadonlyMap<string, Readiness>;
  close(): Promise<void>;
}

export interface Stores extends DatabaseStores {
  readonly memberStore: MemberStore;
  /** Null if there is one instance. */
  readonly instances: InstanceDirectory | null;
}

/** Stores everything in the files of one directory. */
export function sqliteStores(dataDir: string, schema: Schema, schemas: KnownSchemas): Stores {
  return {
    ...sqliteDatabases(dataDir, schema, schemas),
    memberStore: openMembers(dataDir),
    instances: null,
  };
}

/** Stores databases in the files of one directory. */
export function sqliteDatabases(dataDir: string, schema: Schema, schemas: KnownSchemas): DatabaseStores {
  const store = new SqliteStore(dataDir, schema);
  return {
    store,
    bus: null,
    schemas,
    ready: () => Promise.resolve(),
    close: () => store.close(),
  };
}

export interface PostgresStoresOptions {
  /** Holds the working copies. */
  readonly dataDir: string;
  readonly schema: Schema;
  /** The store adds the schemas that its tables have had. */
  readonly schemas: KnownSchemas;
  /** The folder of the working copies, which no other store of this process uses. Default: `working-copies`. */
  readonly copiesFolder?: string;
  readonly maxConnections?: number | undefined;
  /** The bus between instances. Default: NOTIFY of PostgreSQL. */
  readonly nats?: NatsOptions | undefined;
  readonly measureCommit: (durationMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Stores everything in PostgreSQL, shared by any number of instances. */
export function postgresStores(source: PostgresSource, options: PostgresStoresOptions): Stores {
  const { first, ...databases } = openPostgres(source, options);
  const ready = (): Promise<void> => databases.ready();
  return {
    ...databases,
    memberStore: new PostgresMembers(first, ready),
    instances: new PostgresInstances(first, ready),
  };
}

/** Stores databases in PostgreSQL. */
export function postgresDatabases(source: PostgresSource, options: PostgresStoresOptions): DatabaseStores {
  return openPostgres(source, options);
}

/** `first` connects to the only server, or to the one with the directory and the members. */
function openPostgres(
  source: PostgresSource,
  options: PostgresStoresOptions,
): DatabaseStores & { readonly first: Connections } {
  return typeof source === 'string' ? openOne(source, options) : openShards(source, options);
}

function openOne(url: string, options: PostgresStoresOptions): DatabaseStores & { readonly first: Connections } {
  const connections = new Connections(url, { maxConnections: options.maxConnections });
  const bus = openBus(connections, () => store.storeId(), options);
  const store: PostgresStore = new PostgresStore({ ...options, connections, bus });
  return {
    first: connections,
    store,
    bus,
    schemas: options.schemas,
    ready: async () => {
      await store.ready();
      await store.requireAlone();
      await bus.ready();
    },
    connectionCounts: () => [{ labels: {}, counts: connections.counts() }],
    close: async () => {
      await store.close();
      await bus.close();
      await connections.close();
    },
  };
}

function openShards(
  list: readonly Shard[],
  options: PostgresStoresOptions,
): DatabaseStores & { readonly first: Connections } {
  const connections = list.map(({ url }) => new Connections(url, { maxConnections: options.maxConnections }));
  const [first] = connections as [Connections];
  const bus = openBus(first, () => shards.first.store.storeId(), options);
  const copiesFolder = options.copiesFolder ?? 'working-copies';
  const shards: Shards = new Shards(
    list.map((shard, i) => ({
      ...shard,
      connections: connections[i] as Connections,
      store: new PostgresStore({
        ...options,
        // The first shard empties its folder when it starts, before the other shards create theirs in it.
        copiesFolder: i === 0 ? copiesFolder : join(copiesFolder, `shard-${shard.name}`),
        connections: connections[i] as Connections,
        bus,
      }),
    })),
  );
  const store = new ShardedStore(shards);
  return {
    first,
    store,
    bus,
    schemas: options.schemas,
    ready: async () => {
      await shards.ready();
      await bus.ready();
    },
    connectionCounts: () =>
      shards.all.map(({ name, connections: own }) => ({ labels: { shard: name }, counts: own.counts() })),
    shardStates: () => store.shardStates,
    close: async () => {
      await shards.closeStores();
      await bus.close();
      await Promise.all(connections.map((own) => own.close()));
    },
  };
}

function openBus(
  connections: Connections,
  storeId: () => Promise<string>,
  { nats, onError }: Pick<PostgresStoresOptions, 'nats' | 'onError'>,
): Bus {
  return nats === undefined ? new PostgresBus(connections, onError) : new NatsBus(nats, storeId, onError);
}
