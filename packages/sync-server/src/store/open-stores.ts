import type { Schema } from '@rockpool/shared';
import type { MemberStore } from '../auth/member-store.ts';
import { PostgresMembers } from '../auth/postgres-members.ts';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import type { Bus } from '../bus/bus.ts';
import { PostgresBus } from '../bus/postgres-bus.ts';
import { membersPath } from './data-directory.ts';
import { Connections } from '../postgres/connection.ts';
import { PostgresStore } from './postgres/postgres-store.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';

/** The databases of a server, and the bus between its instances. */
export interface DatabaseStores {
  readonly store: Store;
  /** Null if there is one instance. */
  readonly bus: Bus | null;
  /**
   * Resolves once the store accepts commits, with the schemas that were used here before. Rejects with the reason if it
   * cannot.
   */
  ready(): Promise<readonly Schema[]>;
  /** Connections to PostgreSQL by state. Undefined without PostgreSQL. */
  readonly connectionCounts?: () => Readonly<Record<string, number>>;
  close(): Promise<void>;
}

export interface Stores extends DatabaseStores {
  readonly memberStore: MemberStore;
}

/** Stores everything in the files of one directory. */
export function sqliteStores(dataDir: string, schema: Schema): Stores {
  return { ...sqliteDatabases(dataDir, schema), memberStore: new SqliteMembers(membersPath(dataDir)) };
}

/** Stores databases in the files of one directory. */
export function sqliteDatabases(dataDir: string, schema: Schema): DatabaseStores {
  const store = new SqliteStore(dataDir, schema);
  return {
    store,
    bus: null,
    ready: () => Promise.resolve([]),
    close: () => store.close(),
  };
}

export interface PostgresStoresOptions {
  /** Holds the working copies. */
  readonly dataDir: string;
  readonly schema: Schema;
  /** The folder of the working copies, which no other store of this process uses. Default: `working-copies`. */
  readonly copiesFolder?: string;
  readonly maxConnections?: number | undefined;
  readonly measureCommit: (durationMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Stores everything in PostgreSQL, shared by any number of instances. */
export function postgresStores(url: string, options: PostgresStoresOptions): Stores {
  const connections = new Connections(url, { maxConnections: options.maxConnections });
  const databases = postgresDatabases(connections, options);
  return { ...databases, memberStore: new PostgresMembers(connections, async () => void (await databases.ready())) };
}

/** Stores databases in PostgreSQL. Closes the connections when it is closed. */
export function postgresDatabases(connections: Connections, options: PostgresStoresOptions): DatabaseStores {
  const bus = new PostgresBus(connections, options.onError);
  const store = new PostgresStore({ ...options, connections, bus });
  return {
    store,
    bus,
    ready: () => store.schemas(),
    connectionCounts: () => connections.counts(),
    close: async () => {
      await store.close();
      await bus.close();
      await connections.close();
    },
  };
}
