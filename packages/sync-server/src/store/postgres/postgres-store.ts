import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { decodeSchema, quoteName, RockpoolError, type CellValue, type Schema } from '@rockpool/shared';
import type { Bus } from '../../bus/bus.ts';
import { databaseFileName } from '../data-directory.ts';
import type { DatabaseOutline } from '../database-outline.ts';
import type { OpenDatabase } from '../durability.ts';
import type { KnownSchemas } from '../known-schemas.ts';
import type { Readiness, Store, StoreEvents } from '../store.ts';
import { type Connections, NAMESPACE } from '../../postgres/connection.ts';
import { loadCopy, OWN_META, requireSchema, SCHEMA_HASH_SQL, SchemaChanged } from './load-copy.ts';
import { MARK_COLUMNS, readMark, type MoveMark } from './move-mark.ts';
import { DATABASE_COLUMN, qualifiedName, type MirroredTable } from './mirrored-table.ts';
import { COMMIT_ID_BYTES, isSamePosition, PostgresDatabase, writeCommit } from './postgres-database.ts';
import { followTables, prepareSchema, type StoredTables } from './prepare-schema.ts';
import { claimIdentity, isClaimed } from '../identity.ts';
import { inParts } from './row-parts.ts';
import type { StoredChange } from './stored-change.ts';
import { openCopyFile, WorkingCopy, type CommitPosition } from './working-copy.ts';

/**
 * Poll interval for commits that the bus did not announce, because a message was lost or its sender died before sending
 * it.
 */
const POLL_INTERVAL_MS = 1_000;

export interface PostgresStoreOptions {
  readonly connections: Connections;
  readonly bus: Bus;
  /** Holds the working copies in a folder that is emptied at the start. One process at a time may use it. */
  readonly dataDir: string;
  /** The name of that folder in `dataDir`. Default: `working-copies`. */
  readonly copiesFolder?: string;
  /** The schema of this instance. The tables may have one that adds to it. */
  readonly schema: Schema;
  /**
   * The schemas of clients that are served. The store adds every schema that its tables have had. Default: they are not
   * recorded.
   */
  readonly schemas?: KnownSchemas;
  /** Whether tables of an older version of the server may be changed. Default true. */
  readonly migrates?: boolean;
  readonly measureCommit: (durationMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Stores databases in PostgreSQL, shared by any number of instances. */
export class PostgresStore implements Store {
  private readonly options: PostgresStoreOptions;
  private readonly directory: string;
  private readonly instanceId = randomUUID();
  private readonly opened = new Map<string, PostgresDatabase>();
  private readonly unsubscribes = new Map<PostgresDatabase, () => void>();
  // The tables that this instance last saw. They are replaced when another instance has migrated them.
  private stored: Promise<StoredTables> | null = null;
  private readonly pollTimer: NodeJS.Timeout;
  private isPolling = false;

  constructor(options: PostgresStoreOptions) {
    this.options = options;
    this.directory = join(options.dataDir, options.copiesFolder ?? 'working-copies');
    rmSync(this.directory, { recursive: true, force: true });
    mkdirSync(this.directory, { recursive: true });
    this.ready().catch(() => undefined); // later calls try again
    this.pollTimer = setInterval(() => void this.poll(), POLL_INTERVAL_MS);
    this.pollTimer.unref();
  }

  /**
   * Resolves once the tables can be used. Rejects if they cannot be prepared or PostgreSQL cannot be reached; the next
   * call tries again.
   */
  async ready(): Promise<void> {
    await this.prepared();
  }

  /** A random id that the tables have had since they were created. */
  async storeId(): Promise<string> {
    await this.prepared();
    const [[storeId] = []] = await this.options.connections.query(`SELECT store_id FROM ${NAMESPACE}.rockpool_store`);
    return storeId as string;
  }

  /** The id of the store with the directory, if this one is a shard. Null if this store is the only one. */
  async directoryId(): Promise<string | null> {
    await this.ready();
    const [[directory] = []] = await this.options.connections.query(
      `SELECT directory FROM ${NAMESPACE}.rockpool_store`,
    );
    return directory as string | null;
  }

  /**
   * Throws `config-invalid` if this store is one of several shards: without the directory, an instance or a command
   * would create databases that another shard already has.
   */
  async requireAlone(): Promise<void> {
    if ((await this.directoryId()) !== null)
      throw new RockpoolError('config-invalid', {
        count: 1,
        problems:
          'this PostgreSQL database is one of several shards: pass the list of all shards (--shards FILE) instead of its URL',
      });
  }

  /** The schema of the tables, as this instance last saw it. */
  async schema(): Promise<Schema> {
    return (await this.prepared()).schema;
  }

  /** The tables by name, as this instance last saw them. */
  async tables(): Promise<ReadonlyMap<string, MirroredTable>> {
    return (await this.prepared()).byName;
  }

  async open(databaseId: string, events: StoreEvents): Promise<OpenDatabase> {
    const tables = await this.prepared();
    try {
      return await this.openAs(databaseId, tables, events);
    } catch (error) {
      if (!(error instanceof SchemaChanged)) throw error;
      return this.openAs(databaseId, await this.followSchema(tables), events);
    }
  }

  /** Throws SchemaChanged if the tables have changed. */
  private async openAs(databaseId: string, tables: StoredTables, events: StoreEvents): Promise<OpenDatabase> {
    const { connections, bus, measureCommit, onError } = this.options;
    const path = this.pathOf(databaseId);
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    const file = openCopyFile(path, tables.schema, databaseId);
    try {
      const load = (): Promise<CommitPosition | null> => loadCopy(connections, databaseId, file, tables);
      // If another instance creates the database at the same moment, the second load finds it.
      const position =
        (await load()) ??
        (await this.fillAs(databaseId, tables, (table) => file.sql.rows(selectSql(table)))) ??
        (await load());
      if (position === null) throw new Error('a database was deleted while it was opened');
      const database: PostgresDatabase = new PostgresDatabase({
        databaseId,
        connections,
        tables: tables.byName,
        copy: new WorkingCopy(file, tables.byName, position),
        events,
        instanceId: this.instanceId,
        announce: (head, traceparent) =>
          bus.publish({ kind: 'commit', databaseId, head, ...(traceparent !== undefined && { traceparent }) }),
        onWaiting: () =>
          onError(
            new RockpoolError('database-unavailable', {
              problem: 'a commit waits for a long transaction of another instance',
              database: databaseId,
            }),
          ),
        onClosed: () => this.forget(database),
        measure: measureCommit,
      });
      // Issues the identity of a database that has no identity yet; claimIdentity rejects a copy made by hand. The
      // commit is serialized with other instances, so only one of them issues the identity.
      if (!isClaimed(file.sql, databaseId)) await database.commit(() => claimIdentity(file.sql, databaseId));
      this.opened.set(databaseId, database);
      this.unsubscribes.set(
        database,
        bus.subscribe(
          { databaseId },
          (message) => message.kind === 'commit' && this.onHead(databaseId, message.head, message.traceparent),
        ),
      );
      return database;
    } catch (error) {
      file.sql.close();
      throw error;
    }
  }

  /** Returns the tables that other instances have now. Calls that saw the same tables share one request. */
  private followSchema(seen: StoredTables): Promise<StoredTables> {
    const { connections, schema } = this.options;
    const known = this.prepared();
    const followed = known.then((tables) =>
      tables === seen ? this.learnSchemas(followTables(connections, schema)) : tables,
    );
    this.stored = followed.catch((error: unknown) => {
      // The next call reads them again, because the tables may have been restored or the connection may have been lost.
      this.stored = known;
      throw error;
    });
    this.stored.catch(() => undefined);
    return followed;
  }

  private prepared(): Promise<StoredTables> {
    const { connections, schema, migrates } = this.options;
    this.stored ??= this.learnSchemas(prepareSchema(connections, schema, { migrates })).catch((error: unknown) => {
      this.stored = null;
      throw error;
    });
    return this.stored;
  }

  /** Clients of all schemas that the tables have had are still served. */
  private async learnSchemas(preparing: Promise<StoredTables>): Promise<StoredTables> {
    const tables = await preparing;
    const rows = await this.options.connections.query(`SELECT schema FROM ${NAMESPACE}.rockpool_schema`);
    this.options.schemas?.add(rows.map(([schema]) => decodeSchema(schema as string)));
    return tables;
  }

  pathOf(databaseId: string): string {
    return join(this.directory, databaseFileName(databaseId));
  }

  async list(): Promise<string[]> {
    await this.prepared();
    const rows = await this.options.connections.query(`SELECT id FROM ${NAMESPACE}.rockpool_database ORDER BY id`);
    return rows.map(([id]) => id as string);
  }

  /** The databases with the marks of moves. */
  async marked(): Promise<ReadonlyMap<string, MoveMark>> {
    await this.ready();
    const rows = await this.options.connections.query(
      `SELECT id, ${MARK_COLUMNS} FROM ${NAMESPACE}.rockpool_database WHERE move_role IS NOT NULL`,
    );
    return new Map(rows.map(([id, moveId, role]) => [id as string, readMark(moveId, role) as MoveMark]));
  }

  /** Removes the mark of a move that the directory has ended. */
  async clearMark(databaseId: string, { moveId, role }: MoveMark): Promise<void> {
    await this.options.connections.query(
      `UPDATE ${NAMESPACE}.rockpool_database SET move_id = NULL, move_role = NULL WHERE id = $1 AND move_id = $2 AND move_role = $3`,
      [databaseId, moveId, role],
    );
  }

  async outline(databaseId: string): Promise<DatabaseOutline> {
    await this.prepared();
    const [[watermark, lastWriteMs] = []] = await this.options.connections.transaction(
      databaseId,
      'REPEATABLE READ, READ ONLY',
      async (connection) => ({
        commit: true,
        result: await connection.query(
          `SELECT watermark, received_ms FROM ${qualifiedName('rockpool_log')} WHERE ${DATABASE_COLUMN} = $1 ORDER BY watermark DESC LIMIT 1`,
          [databaseId],
        ),
      }),
    );
    return {
      sizeBytes: null,
      watermark: Number(watermark ?? 0),
      lastWriteMs: lastWriteMs === undefined ? null : Number(lastWriteMs),
      damage: null,
      unloadedMs: null,
    };
  }

  markDamaged(): void {}

  async readiness(): Promise<Readiness> {
    try {
      const tables = await this.prepared();
      const [[hash] = []] = await this.options.connections.poll(`SELECT ${SCHEMA_HASH_SQL}`);
      if (hash !== tables.schema.hash) await this.followSchema(tables);
      return 'ready';
    } catch (error) {
      return error instanceof RockpoolError && error.code === 'schema-incompatible' ? error.code : 'unavailable';
    }
  }

  async close(): Promise<void> {
    clearInterval(this.pollTimer);
    await this.stored?.catch(() => undefined);
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Creates a database with these rows in one transaction. Returns null if the database already exists. */
  async fill(
    databaseId: string,
    rowsOf: (table: MirroredTable) => Iterable<readonly CellValue[]>,
  ): Promise<CommitPosition | null> {
    return this.fillAs(databaseId, await this.prepared(), rowsOf);
  }

  /** Throws SchemaChanged if the tables have changed. */
  private fillAs(
    databaseId: string,
    tables: StoredTables,
    rowsOf: (table: MirroredTable) => Iterable<readonly CellValue[]>,
  ): Promise<CommitPosition | null> {
    return this.options.connections.transaction(databaseId, 'READ WRITE', async (connection) => {
      await requireSchema(connection, tables.schema);
      const commitId = randomBytes(COMMIT_ID_BYTES);
      const created = await connection.query(
        `INSERT INTO ${NAMESPACE}.rockpool_database (id, head, commit_id) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING RETURNING 1`,
        [databaseId, commitId],
      );
      if (created.length === 0) return { commit: false, result: null };
      let head = 0;
      // No instance follows from before the database existed, so the changeset can be empty: only the tables count.
      const write = (changes: readonly StoredChange[]): Promise<void> =>
        writeCommit(connection, databaseId, tables.byName, { head: ++head, commitId }, new Uint8Array(0), changes);
      const changes = insertChanges(tables.byName, rowsOf);
      for await (const part of inParts(changes, ROWS_PER_STATEMENT, ({ values }) => values)) await write(part);
      return { commit: true, result: { head, commitId } };
    });
  }

  private forget(database: PostgresDatabase): void {
    this.unsubscribes.get(database)?.();
    this.unsubscribes.delete(database);
    const { databaseId } = database;
    // The database may have been opened again meanwhile.
    if (this.opened.get(databaseId) === database) this.opened.delete(databaseId);
  }

  private onHead(databaseId: string, head: number, traceparent?: string): void {
    const database = this.opened.get(databaseId);
    if (database === undefined || head <= database.position.head) return;
    if (traceparent !== undefined) database.announced(head, traceparent);
    this.catchUp(database);
  }

  private catchUp(database: PostgresDatabase): void {
    database.catchUp().catch((error: unknown) => {
      // A database that is closed meanwhile does not need to catch up.
      if (!database.isClosed) this.options.onError(error);
    });
  }

  /** Reads the positions of all open databases in one query. */
  private async poll(): Promise<void> {
    if (this.isPolling || this.opened.size === 0) return;
    this.isPolling = true;
    const before = new Map([...this.opened.values()].map((database) => [database, database.position]));
    try {
      const rows = await this.options.connections.poll(
        `SELECT id, head, commit_id FROM ${NAMESPACE}.rockpool_database WHERE id = ANY ($1) AND move_role IS NULL`,
        [[...this.opened.keys()]],
      );
      const stored = new Map(
        rows.map(([id, head, commitId]) => [id as string, { head: Number(head), commitId: commitId as Uint8Array }]),
      );
      for (const [database, position] of before) {
        // The position has changed since the query began, so the result may be older.
        if (database.isClosed || database.position !== position) continue;
        const now = stored.get(database.databaseId);
        // A database that is deleted or moving has no stored position; the catch-up determines which. After a restore
        // to an older state, the head is lower, or equal but made by another commit.
        if (now === undefined || !isSamePosition(now, position)) this.catchUp(database);
      }
    } catch (error) {
      this.options.onError(error);
    } finally {
      this.isPolling = false;
    }
  }
}

const ROWS_PER_STATEMENT = 5_000;

function* insertChanges(
  tables: ReadonlyMap<string, MirroredTable>,
  rowsOf: (table: MirroredTable) => Iterable<readonly CellValue[]>,
): Generator<StoredChange> {
  for (const table of tables.values()) {
    for (const values of rowsOf(table)) {
      if (table.name !== 'rockpool_meta' || !OWN_META.includes(values[0] as string))
        yield { table: table.name, kind: 'insert', values };
    }
  }
}

/** Selects the rows of a table of a file in the column order of PostgreSQL. */
export function selectSql({ name, columns }: MirroredTable): string {
  return `SELECT ${columns.map((column) => quoteName(column.name)).join(', ')} FROM ${quoteName(name)}`;
}
