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

/** The stores of a server: databases, members, and the bus between its instances. */
export interface Stores {
  readonly store: Store;
  readonly memberStore: MemberStore;
  /** Null if there is one instance. */
  readonly bus: Bus | null;
  /**
   * Resolves once the store accepts commits, with the schemas that were used here before. Rejects with the reason if it
   * cannot.
   */
  ready(): Promise<readonly Schema[]>;
  close(): Promise<void>;
}

/** Stores everything in the files of one directory. */
export function sqliteStores(dataDir: string, schema: Schema): Stores {
  const store = new SqliteStore(dataDir, schema);
  return {
    store,
    memberStore: new SqliteMembers(membersPath(dataDir)),
    bus: null,
    ready: () => Promise.resolve([]),
    close: () => store.close(),
  };
}

export interface PostgresStoresOptions {
  /** Holds the working copies. */
  readonly dataDir: string;
  readonly schema: Schema;
  readonly maxConnections?: number | undefined;
  readonly measureCommit: (durationMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Stores everything in PostgreSQL, shared by any number of instances. */
export function postgresStores(url: string, options: PostgresStoresOptions): Stores {
  const connections = new Connections(url, { maxConnections: options.maxConnections });
  const bus = new PostgresBus(connections, options.onError);
  const store = new PostgresStore({ ...options, connections, bus });
  return {
    store,
    memberStore: new PostgresMembers(connections, async () => void (await store.ready())),
    bus,
    ready: () => store.schemas(),
    close: async () => {
      await store.close();
      await bus.close();
      await connections.close();
    },
  };
}
