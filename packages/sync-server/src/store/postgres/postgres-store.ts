import { randomBytes } from 'node:crypto';
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
 * What an instance does not hear by the bus it finds by looking, this often: a message was lost, or its sender died
 * before it sent it.
 */
const LOOK_INTERVAL_MS = 1_000;

export interface PostgresStoreOptions {
  readonly connections: Connections;
  readonly bus: Bus;
  /** The working copies lie here, in a folder of their own that is emptied at the start. One process at a time. */
  readonly dataDir: string;
  readonly schema: Schema;
  readonly measureCommit: (durationMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Databases in PostgreSQL, of any number of instances. */
export class PostgresStore implements Store {
  private readonly options: PostgresStoreOptions;
  private readonly directory: string;
  private readonly opened = new Map<string, PostgresDatabase>();
  private readonly tables: Promise<ReadonlyMap<string, MirroredTable>>;
  private readonly unsubscribe: () => void;
  private readonly looking: NodeJS.Timeout;
  private isLooking = false;

  constructor(options: PostgresStoreOptions) {
    this.options = options;
    this.directory = join(options.dataDir, 'working-copies');
    rmSync(this.directory, { recursive: true, force: true });
    mkdirSync(this.directory, { recursive: true });
    this.tables = prepareSchema(options.connections, options.schema);
    this.tables.catch(() => undefined); // whoever needs them hears of it
    this.unsubscribe = options.bus.subscribe(
      (message) => message.kind === 'commit' && this.heard(message.databaseId, message.head),
    );
    this.looking = setInterval(() => void this.look(), LOOK_INTERVAL_MS);
    this.looking.unref();
  }

  /** The tables. Throws what is wrong with them, or with the way to them. */
  ready(): Promise<ReadonlyMap<string, MirroredTable>> {
    return this.tables;
  }

  /** Those that the tables have had. */
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
      // Where another instance has made it at the same moment, it is there the second time.
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
        announce: (head) => bus.publish({ kind: 'commit', databaseId, head }),
        measure: measureCommit,
      });
      // From before identities, or a copy that somebody made by hand, which is refused. The commit takes turns with
      // other instances, so that one of them issues it.
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

  /** The ids of all databases, sorted. */
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
    clearInterval(this.looking);
    this.unsubscribe();
    await this.tables.catch(() => undefined);
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Makes a database with these rows, all at once. Null: somebody else has made it meanwhile. */
  async fill(
    databaseId: string,
    rowsOf: (table: MirroredTable) => Iterable<readonly CellValue[]>,
  ): Promise<CommitPosition | null> {
    const tables = await this.tables;
    return this.options.connections.transaction(databaseId, 'READ WRITE', async (connection) => {
      const commitId = randomBytes(COMMIT_ID_BYTES);
      const made = await connection.query(
        `INSERT INTO ${NAMESPACE}.rockpool_database (id, head, commit_id) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING RETURNING 1`,
        [databaseId, commitId],
      );
      if (made.length === 0) return { commit: false, result: null };
      let head = 0;
      // Nobody follows from before it was there: all that counts are the tables.
      const write = (changes: readonly StoredChange[]): Promise<void> =>
        writeCommit(connection, databaseId, tables, { head: ++head, commitId }, new Uint8Array(0), changes);
      for (const changes of inChunks(firstChanges(tables, rowsOf))) await write(changes);
      return { commit: true, result: { head, commitId } };
    });
  }

  private heard(databaseId: string, head: number): void {
    const database = this.opened.get(databaseId);
    if (database?.isClosed === true) this.opened.delete(databaseId);
    else if (database !== undefined && head > database.head)
      database.catchUp().catch((error: unknown) => {
        // One that closes meanwhile has nothing to catch up with.
        if (!database.isClosed) this.options.onError(error);
      });
  }

  /** Asks for the heads of all open databases in one query. */
  private async look(): Promise<void> {
    if (this.isLooking || this.opened.size === 0) return;
    this.isLooking = true;
    try {
      const rows = await this.options.connections.query(
        `SELECT id, head FROM ${NAMESPACE}.rockpool_database WHERE id = ANY ($1)`,
        [[...this.opened.keys()]],
      );
      const heads = new Map(rows.map(([id, head]) => [id as string, Number(head)]));
      // One that is gone is told so when it asks.
      for (const databaseId of [...this.opened.keys()]) this.heard(databaseId, heads.get(databaseId) ?? Infinity);
    } catch (error) {
      this.options.onError(error);
    } finally {
      this.isLooking = false;
    }
  }
}

/** Rows that are in memory at a time. */
const ROWS_PER_STATEMENT = 5_000;

function* firstChanges(
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

/** The rows of a table of a file, as PostgreSQL has them. */
export function selectSql({ name, columns }: MirroredTable): string {
  return `SELECT ${columns.map((column) => quoteName(column.name)).join(', ')} FROM ${quoteName(name)}`;
}
