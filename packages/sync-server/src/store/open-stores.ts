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

/** Everything that a server keeps, in one place. */
export interface Stores {
  readonly store: Store;
  readonly memberStore: MemberStore;
  /** Null: there is one instance. */
  readonly bus: Bus | null;
  /** Resolves once something can be stored, with the schemas that were in use here before. Throws why not. */
  ready(): Promise<readonly Schema[]>;
  close(): Promise<void>;
}

/** In files of one directory. */
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
  /** Of the working copies. */
  readonly dataDir: string;
  readonly schema: Schema;
  readonly maxConnections?: number | undefined;
  readonly measureCommit: (durationMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/** In PostgreSQL, with any number of instances. */
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
