import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeSchema, quoteName, RockpoolError, syncedTables, type Schema } from '@rockpool/shared';
import { PostgresMembers } from '../../auth/postgres-members.ts';
import { InProcessBus } from '../../bus/in-process-bus.ts';
import { restoreDatabase } from '../copy-database.ts';
import { openDatabaseFile } from '../database-file.ts';
import { schemaAdditions } from '../schema-additions.ts';
import { Connections, NAMESPACE } from '../../postgres/connection.ts';
import type { PostgresSource } from '../../postgres/shard.ts';
import { deleteDatabase } from './delete-database.ts';
import { moveDatabase } from './move-database.ts';
import type { Directory } from './directory.ts';
import { PostgresStore, selectSql } from './postgres-store.ts';
import { ShardedStore } from './sharded-store.ts';
import { Shards, type OpenShard } from './shards.ts';
import { typeChecks } from './typed-table.ts';

interface Opened {
  readonly schema: Schema;
  readonly store: PostgresStore | ShardedStore;
  /** The server of a database that exists, or is about to be created. */
  readonly serverOf: (databaseId: string) => Promise<Server>;
  /** Every server, with the name of its shard, or null if there is only one. */
  readonly servers: readonly (Server & { readonly name: string | null })[];
  /** Null without shards. */
  readonly shards: Shards | null;
  readonly close: () => Promise<void>;
}

interface Server {
  readonly connections: Connections;
  readonly store: PostgresStore;
}

/** The administration of databases in PostgreSQL, also while instances run. */
export class PostgresAdministration {
  readonly schema: Schema;
  private readonly directory: string;
  private readonly opened: Opened;

  private constructor(directory: string, opened: Opened) {
    this.directory = directory;
    this.opened = opened;
    this.schema = opened.schema;
  }

  /**
   * Runs `work` with the existing store. With `isReadOnly`, `work` may only read, and no shard is registered. Throws
   * `storage-missing` if no server has created a store, `config-invalid` if a different version of the server made its
   * tables, or `database-unavailable` if PostgreSQL does not respond.
   */
  static async use<Result>(
    source: PostgresSource,
    work: (administration: PostgresAdministration) => Promise<Result>,
    { isReadOnly = false }: { readonly isReadOnly?: boolean } = {},
  ): Promise<Result> {
    const directory = mkdtempSync(join(tmpdir(), 'rockpool-administration-'));
    try {
      const opened = await openServers(source, directory, isReadOnly);
      try {
        return await work(new PostgresAdministration(directory, opened));
      } finally {
        await opened.close();
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  private get store(): PostgresStore | ShardedStore {
    return this.opened.store;
  }

  /**
   * Throws `config-invalid` for a single URL that is one of several shards. `unlessLost` allows a shard other than the
   * first: while the first one is unavailable, its databases can be read only there.
   */
  async requireAll({ unlessLost = false }: { readonly unlessLost?: boolean } = {}): Promise<void> {
    const { shards, servers } = this.opened;
    const { store } = servers[0] as Server;
    if (shards !== null || (unlessLost && (await store.directoryId()) !== (await store.storeId()))) return;
    await store.requireAlone();
  }

  /** The ids of all databases with their shards, which are null if there is only one server. */
  async placed(): Promise<ReadonlyMap<string, string | null>> {
    const { store } = this;
    return store instanceof ShardedStore
      ? new Map([...(await store.placed())].sort(([a], [b]) => (a < b ? -1 : 1)))
      : new Map((await store.list()).map((id) => [id, null]));
  }

  /** Moves a database to another shard. See moveDatabase. */
  move(databaseId: string, to: string, report: (step: string) => void): Promise<void> {
    const { shards } = this.opened;
    if (shards === null) throw new Error('there are no shards');
    return moveDatabase(databaseId, to, shards, report);
  }

  list(): Promise<string[]> {
    return this.store.list();
  }

  /** Passes `work` the path of a file with the current state of the database. Throws `storage-missing`. */
  async withCopy<Result>(databaseId: string, work: (path: string) => Result): Promise<Result> {
    if (!(await this.has(databaseId))) throw new RockpoolError('storage-missing', { database: databaseId });
    const database = await this.store.open(databaseId, { onCaughtUp: () => undefined, onLost: () => undefined });
    try {
      return work(this.store.pathOf(databaseId));
    } finally {
      database.close();
    }
  }

  /** Creates an empty database, if it does not exist. */
  async create(databaseId: string): Promise<void> {
    await this.requireAll();
    (await this.store.open(databaseId, { onCaughtUp: () => undefined, onLost: () => undefined })).close();
  }

  /**
   * Imports a database file under a new log epoch. Throws `schema-incompatible` if the file has tables or columns that
   * PostgreSQL lacks, and `config-invalid` if the database exists, if the file has values that PostgreSQL's columns
   * cannot store, or for the URL of one of several shards.
   */
  async import(databaseId: string, from: string): Promise<void> {
    await this.requireAll();
    const path = join(this.directory, 'import.sqlite');
    restoreDatabase(from, path, databaseId);
    const { sql, schema } = openDatabaseFile(path, this.schema);
    try {
      schemaAdditions(schema, this.schema); // throws if the file has tables or columns that PostgreSQL lacks
      const problems = syncedTables(this.schema).flatMap((table) =>
        typeChecks(table).flatMap((check) =>
          sql.get(`SELECT 1 FROM ${quoteName(table.name)} WHERE NOT (${check.sql}) LIMIT 1`) === undefined
            ? []
            : [`${table.name}: ${check.problem}`],
        ),
      );
      if (await this.has(databaseId)) throw alreadyExists(databaseId);
      if (problems.length > 0)
        throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
      const { store } = await this.opened.serverOf(databaseId);
      // A client may have created the database meanwhile.
      if ((await store.fill(databaseId, (table) => sql.rows(selectSql(table)))) === null)
        throw alreadyExists(databaseId);
    } finally {
      sql.close();
    }
  }

  /**
   * Deletes a database with its members, also one whose deletion was interrupted. Instances that have it open close it;
   * a client that connects afterwards creates a new one. Throws `storage-missing`, and `config-invalid` for the URL of
   * one of several shards.
   */
  async delete(databaseId: string): Promise<void> {
    await this.requireAll();
    if (!(await this.has(databaseId))) throw new RockpoolError('storage-missing', { database: databaseId });
    // The members are at the first shard.
    const { connections: first } = this.opened.servers[0] as Server;
    const members = new PostgresMembers(first, () => Promise.resolve());
    await deleteDatabase(databaseId, await this.opened.serverOf(databaseId), () => members.forgetDatabase(databaseId));
  }

  /**
   * Returns the problems of each server: settings that endanger durability or the separation of databases, and
   * leftovers of moves.
   */
  async problems(): Promise<readonly { readonly shard: string | null; readonly problems: readonly string[] }[]> {
    const { servers, shards } = this.opened;
    return Promise.all(
      servers.map(async ({ name, connections, store }) => ({
        shard: name,
        problems: [
          ...(await settingProblems(connections)),
          ...(shards === null || name === null ? [] : await moveProblems(name, store, shards.directory)),
        ],
      })),
    );
  }

  async has(databaseId: string): Promise<boolean> {
    return (await this.list()).includes(databaseId);
  }
}

/**
 * Throws `config-invalid` if the members of this PostgreSQL server are at another shard: no instance would read a role
 * that is stored here, such as a revocation. Also works with tables of an earlier version, which lack the columns.
 */
export async function requireMembersHere(connections: Connections): Promise<void> {
  const [[isElsewhere] = []] = await connections.query(
    `SELECT to_jsonb(store) ->> 'directory' <> to_jsonb(store) ->> 'store_id' FROM ${NAMESPACE}.rockpool_store AS store`,
  );
  if (isElsewhere === true)
    throw new RockpoolError('config-invalid', {
      count: 1,
      problems: 'the members are at the first of several shards: pass the list of all shards (--shards FILE)',
    });
}

function alreadyExists(databaseId: string): RockpoolError {
  return new RockpoolError('config-invalid', { count: 1, problems: `${databaseId} already exists` });
}

async function openServers(source: PostgresSource, directory: string, isReadOnly: boolean): Promise<Opened> {
  const list = typeof source === 'string' ? [{ name: null, url: source }] : source;
  const connections = list.map(({ url }) => new Connections(url));
  const closeConnections = async (): Promise<void> => void (await Promise.all(connections.map((own) => own.close())));
  try {
    const schema = await storedSchema(connections[0] as Connections);
    const bus = new InProcessBus();
    const servers = list.map((shard, i) => ({
      ...shard,
      connections: connections[i] as Connections,
      store: new PostgresStore({
        connections: connections[i] as Connections,
        bus,
        dataDir: directory,
        copiesFolder: `copies-${i}`,
        schema,
        migrates: false,
        measureCommit: () => undefined,
        onError: () => undefined,
      }),
    }));
    const shards = typeof source === 'string' ? null : new Shards(servers as OpenShard[], { isReadOnly });
    const store = shards === null ? (servers[0] as Server).store : new ShardedStore(shards);
    const serverOf = async (databaseId: string): Promise<Server> =>
      store instanceof ShardedStore ? store.shardOf(databaseId) : (servers[0] as Server);
    const close = async (): Promise<void> => {
      await store.close();
      await closeConnections();
    };
    return { schema, store, serverOf, servers, shards, close };
  } catch (error) {
    await closeConnections();
    throw error;
  }
}

async function storedSchema(connections: Connections): Promise<Schema> {
  const [[exists] = []] = await connections.query(`SELECT to_regclass('${NAMESPACE}.rockpool_store') IS NOT NULL`);
  if (exists !== true)
    throw new RockpoolError('storage-missing', { problem: 'no server has used this PostgreSQL database yet' });
  const [[schema] = []] = await connections.query(`SELECT schema FROM ${NAMESPACE}.rockpool_store`);
  return decodeSchema(schema as string);
}

async function settingProblems(connections: Connections): Promise<string[]> {
  const [[bypasses, fsync] = []] = await connections.query(
    `SELECT rolsuper OR rolbypassrls, current_setting('fsync') FROM pg_roles WHERE rolname = current_user`,
  );
  return [
    ...(bypasses === true
      ? ['the role bypasses row-level security: give the server a role that is neither superuser nor BYPASSRLS']
      : []),
    ...(fsync === 'off' ? ['PostgreSQL runs with fsync = off: a power cut loses acknowledged changes'] : []),
  ];
}

/** Moves that were interrupted, and databases that two shards have. */
async function moveProblems(name: string, store: PostgresStore, directory: Directory): Promise<string[]> {
  const marked = await store.marked();
  const ids = await store.list();
  const elsewhere = await directory.elsewhere(ids, name);
  return ids.flatMap((id) => {
    const role = marked.get(id)?.role;
    if (role === 'moved')
      return elsewhere.has(id)
        ? []
        : [`the directory places ${id} here, but it was moved away; restore a newer directory`];
    // Reported as a problem of the database.
    if (role === 'deleted') return [];
    if (role !== undefined) return [`a move of ${id} was interrupted: run rockpool-server move again`];
    return elsewhere.has(id) ? [`${id} is here, but the directory places it at another shard`] : [];
  });
}
