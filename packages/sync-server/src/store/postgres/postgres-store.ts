import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { decodeSchema, quoteName, type CellValue, type Schema } from '@rockpool/shared';
import type { Bus } from '../../bus/bus.ts';
import { databaseFileName } from '../data-directory.ts';
import type { OpenDatabase } from '../durability.ts';
import type { Readiness, Store, StoreEvents } from '../store.ts';
import type { Connections } from '../../postgres/connection.ts';
import { loadCopy, OWN_META } from './load-copy.ts';
import { NAMESPACE } from '../../postgres/namespace.ts';
import type { MirroredTable } from './mirrored-table.ts';
import { COMMIT_ID_BYTES, PostgresDatabase, writeCommit } from './postgres-database.ts';
import { prepareSchema } from './prepare-schema.ts';
import { claimIdentity, isClaimed } from '../identity.ts';
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
  /** That folder in the directory. Default: `working-copies`. */
  readonly copiesFolder?: string;
  readonly schema: Schema;
  readonly measureCommit: (durationMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Stores databases in PostgreSQL, shared by any number of instances. */
export class PostgresStore implements Store {
  private readonly options: PostgresStoreOptions;
  private readonly directory: string;
  private readonly instanceId = randomUUID();
  private readonly opened = new Map<string, PostgresDatabase>();
  private readonly tables: Promise<ReadonlyMap<string, MirroredTable>>;
  private readonly unsubscribe: () => void;
  private readonly pollTimer: NodeJS.Timeout;
  private isPolling = false;

  constructor(options: PostgresStoreOptions) {
    this.options = options;
    this.directory = join(options.dataDir, options.copiesFolder ?? 'working-copies');
    rmSync(this.directory, { recursive: true, force: true });
    mkdirSync(this.directory, { recursive: true });
    this.tables = prepareSchema(options.connections, options.schema);
    this.tables.catch(() => undefined); // callers of `ready` get the rejection
    this.unsubscribe = options.bus.subscribe(
      (message) => message.kind === 'commit' && this.onHead(message.databaseId, message.head),
    );
    this.pollTimer = setInterval(() => void this.poll(), POLL_INTERVAL_MS);
    this.pollTimer.unref();
  }

  /** Resolves with the tables. Rejects if they cannot be prepared or PostgreSQL cannot be reached. */
  ready(): Promise<ReadonlyMap<string, MirroredTable>> {
    return this.tables;
  }

  /** Returns all schemas that the tables have had. */
  async schemas(): Promise<Schema[]> {
    await this.tables;
    return (await this.options.connections.query(`SELECT schema FROM ${NAMESPACE}.rockpool_schema`)).map(([schema]) =>
      decodeSchema(schema as string),
    );
  }

  async open(databaseId: string, events: StoreEvents): Promise<OpenDatabase> {
    const { connections, schema, bus, measureCommit } = this.options;
    const tables = await this.tables;
    const path = this.pathOf(databaseId);
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    const file = openCopyFile(path, schema, databaseId);
    try {
      const load = (): Promise<CommitPosition | null> =>
        loadCopy(connections, databaseId, file, tables.values(), schema);
      // If another instance creates the database at the same moment, the second load finds it.
      const position =
        (await load()) ?? (await this.fill(databaseId, (table) => file.sql.rows(selectSql(table)))) ?? (await load());
      if (position === null) throw new Error('a database was deleted while it was opened');
      const database = new PostgresDatabase({
        databaseId,
        connections,
        tables,
        schema,
        copy: new WorkingCopy(file, tables, position),
        events,
        instanceId: this.instanceId,
        announce: (head) => bus.publish({ kind: 'commit', databaseId, head }),
        measure: measureCommit,
      });
      // Either a database from before identities, or a copy made by hand, which claimIdentity rejects. The commit is
      // serialized with other instances, so only one of them issues the identity.
      if (!isClaimed(file.sql, databaseId)) await database.commit(() => claimIdentity(file.sql, databaseId));
      this.opened.set(databaseId, database);
      return database;
    } catch (error) {
      file.sql.close();
      throw error;
    }
  }

  pathOf(databaseId: string): string {
    return join(this.directory, databaseFileName(databaseId));
  }

  /** Returns the ids of all databases, sorted. */
  async list(): Promise<string[]> {
    await this.tables;
    const rows = await this.options.connections.query(`SELECT id FROM ${NAMESPACE}.rockpool_database ORDER BY id`);
    return rows.map(([id]) => id as string);
  }

  markDamaged(): void {}

  async readiness(): Promise<Readiness> {
    try {
      await this.tables;
      const [[schemaHash] = []] = await this.options.connections.query(
        `SELECT schema_hash FROM ${NAMESPACE}.rockpool_store`,
      );
      return schemaHash === this.options.schema.hash ? 'ready' : 'unavailable';
    } catch {
      return 'unavailable';
    }
  }

  async close(): Promise<void> {
    clearInterval(this.pollTimer);
    this.unsubscribe();
    await this.tables.catch(() => undefined);
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Creates a database with these rows in one transaction. Returns null if the database already exists. */
  async fill(
    databaseId: string,
    rowsOf: (table: MirroredTable) => Iterable<readonly CellValue[]>,
  ): Promise<CommitPosition | null> {
    const tables = await this.tables;
    return this.options.connections.transaction(databaseId, 'READ WRITE', async (connection) => {
      const commitId = randomBytes(COMMIT_ID_BYTES);
      const created = await connection.query(
        `INSERT INTO ${NAMESPACE}.rockpool_database (id, head, commit_id) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING RETURNING 1`,
        [databaseId, commitId],
      );
      if (created.length === 0) return { commit: false, result: null };
      let head = 0;
      // No instance follows from before the database existed, so the changeset stays empty and only the tables count.
      const write = (changes: readonly StoredChange[]): Promise<void> =>
        writeCommit(connection, databaseId, tables, { head: ++head, commitId }, new Uint8Array(0), changes);
      for (const changes of inChunks(insertChanges(tables, rowsOf))) await write(changes);
      return { commit: true, result: { head, commitId } };
    });
  }

  private onHead(databaseId: string, head: number): void {
    const database = this.opened.get(databaseId);
    if (database?.isClosed === true) this.opened.delete(databaseId);
    else if (database !== undefined && head > database.head)
      database.catchUp().catch((error: unknown) => {
        // One that closes meanwhile has nothing to catch up with.
        if (!database.isClosed) this.options.onError(error);
      });
  }

  /** Reads the heads of all open databases in one query. */
  private async poll(): Promise<void> {
    if (this.isPolling || this.opened.size === 0) return;
    this.isPolling = true;
    try {
      const rows = await this.options.connections.query(
        `SELECT id, head FROM ${NAMESPACE}.rockpool_database WHERE id = ANY ($1)`,
        [[...this.opened.keys()]],
      );
      const heads = new Map(rows.map(([id, head]) => [id as string, Number(head)]));
      // A deleted database has no head; the catch-up finds out.
      for (const databaseId of [...this.opened.keys()]) this.onHead(databaseId, heads.get(databaseId) ?? Infinity);
    } catch (error) {
      this.options.onError(error);
    } finally {
      this.isPolling = false;
    }
  }
}

/** Limits the rows that are in memory at a time. */
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

function* inChunks(changes: Iterable<StoredChange>): Generator<StoredChange[]> {
  let chunk: StoredChange[] = [];
  for (const change of changes) {
    chunk.push(change);
    if (chunk.length < ROWS_PER_STATEMENT) continue;
    yield chunk;
    chunk = [];
  }
  yield chunk;
}

/** Selects the rows of a table of a file in the column order of PostgreSQL. */
export function selectSql({ name, columns }: MirroredTable): string {
  return `SELECT ${columns.map((column) => quoteName(column.name)).join(', ')} FROM ${quoteName(name)}`;
}
