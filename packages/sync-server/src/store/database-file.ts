import { randomBytes } from 'node:crypto';
import {
  decodeSchema,
  encodeSchema,
  ID_BYTES,
  RockpoolError,
  SYSTEM_TABLES,
  syncedTables,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import { DocumentDesk } from '../documents/document-desk.ts';
import { requireDocuments } from '../documents/require-documents.ts';
import { beginBirths, ColumnBirths } from '../log/column-births.ts';
import { HistoryPruning } from '../log/history-pruning.ts';
import { LogEpoch } from '../log/log-epoch.ts';
import { createLogSecret } from '../log/log-hash.ts';
import { Log } from '../log/log.ts';
import { AnyOrigins } from '../log/origins.ts';
import { OldestEntry } from '../log/oldest-entry.ts';
import { Sites } from '../log/sites.ts';
import { Tombstones } from '../log/tombstones.ts';
import { claimIdentity, newIdentity } from './identity.ts';
import {
  INTERNAL_TABLES_SQL,
  MIGRATIONS,
  SERVER_SITE,
  SERVER_SITE_NUMBER,
  STORAGE_FORMAT,
} from '../sqlite/internal-tables.ts';
import { readMeta, writeMeta } from '../sqlite/meta.ts';
import { openedSchema } from './schema-window.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { storedTableToDdl, toStoredTable, type StoredTable } from '../sqlite/stored-table.ts';

/** The parts of a database that a reader of rows and their history needs. */
export interface DatabaseReader {
  readonly sql: SqliteFile;
  readonly tableByName: ReadonlyMap<string, StoredTable>;
  readonly sites: Sites;
}

/** One open database: the app's tables and Rockpool's tables, in one file. */
export interface DatabaseFile extends DatabaseReader {
  /** The schema of its tables: that of the server, or one that adds to it. */
  readonly schema: Schema;
  readonly tableById: ReadonlyMap<number, StoredTable>;
  readonly logEpoch: LogEpoch;
  readonly log: Log;
  readonly tombstones: Tombstones;
  /** When the oldest entry of the conflict log may have to be removed. */
  readonly oldestConflict: OldestEntry;
  readonly anyOrigins: AnyOrigins;
  readonly history: HistoryPruning;
  readonly columnBirths: ColumnBirths;
  readonly documents: DocumentDesk;
}

export interface DatabaseFileOptions {
  /** Whether the file can be rebuilt from another store, so that commits do not wait for the disk. Default false. */
  readonly disposable?: boolean;
  /**
   * The id that the database is opened under, which owns its identity (identity.ts). Default: the owner is not checked.
   */
  readonly databaseId?: string;
  /** Returns the DDL statements of a table: an app's table, or a system table that clients see too. */
  readonly toDdl?: (table: TableSchema, isSystem: boolean) => string[];
}

/**
 * Opens the file, creating it if it is missing, and applies the additions of a newer schema. A file whose schema adds
 * to `own` keeps its schema. Throws `schema-incompatible`, or `database-unavailable` if the file has an unknown storage
 * format or belongs to a different database id.
 */
export function openDatabaseFile(
  path: string,
  own: Schema,
  { disposable = false, toDdl = storedTableToDdl, databaseId }: DatabaseFileOptions = {},
): DatabaseFile {
  const sql = new SqliteFile(path, { disposable });
  try {
    const schema = sql.transaction(() => {
      const isNew = sql.get(`SELECT 1 FROM sqlite_schema LIMIT 1`) === undefined;
      if (isNew) create(sql, own, toDdl);
      const opened = isNew ? own : migrate(sql, own);
      if (databaseId !== undefined) claimIdentity(sql, databaseId);
      return opened;
    });
    const tables = tablesOf(schema);
    const logEpoch = new LogEpoch(sql);
    return {
      schema,
      sql,
      tableById: tables.byId,
      tableByName: tables.byName,
      logEpoch,
      log: new Log(sql, logEpoch),
      sites: new Sites(sql),
      tombstones: new Tombstones(sql),
      oldestConflict: new OldestEntry(),
      anyOrigins: new AnyOrigins(sql),
      history: new HistoryPruning(sql, tables.all),
      columnBirths: new ColumnBirths(sql, tables.all),
      documents: new DocumentDesk(),
    };
  } catch (error) {
    sql.close();
    throw error;
  }
}

interface Tables {
  readonly all: readonly StoredTable[];
  readonly byId: ReadonlyMap<number, StoredTable>;
  readonly byName: ReadonlyMap<string, StoredTable>;
}

/** All open databases of a schema share its tables, because their SQL takes 60 KB. */
const tablesBySchema = new WeakMap<Schema, Tables>();

function tablesOf(schema: Schema): Tables {
  const known = tablesBySchema.get(schema);
  if (known !== undefined) return known;
  const all = storedTables(schema);
  const tables: Tables = {
    all,
    byId: new Map(all.map((table) => [table.schema.id, table])),
    byName: new Map(all.map((table) => [table.schema.name, table])),
  };
  tablesBySchema.set(schema, tables);
  return tables;
}

/** The tables of a database: Rockpool's system tables, then the app's. */
export function storedTables(schema: Schema): StoredTable[] {
  return [
    ...SYSTEM_TABLES.map((table) => toStoredTable(table, true)),
    ...syncedTables(schema).map((table) => toStoredTable(table, false)),
  ];
}

/**
 * The text is encoded once for all databases of a schema: it may have tens of kilobytes, and every opening compares it.
 */
const textBySchema = new WeakMap<Schema, string>();

function textOf(schema: Schema): string {
  const text = textBySchema.get(schema) ?? encodeSchema(schema);
  textBySchema.set(schema, text);
  return text;
}

function create(sql: SqliteFile, schema: Schema, toDdl: NonNullable<DatabaseFileOptions['toDdl']>): void {
  sql.exec(INTERNAL_TABLES_SQL);
  for (const table of SYSTEM_TABLES) for (const statement of toDdl(table, true)) sql.exec(statement);
  for (const table of syncedTables(schema)) for (const statement of toDdl(table, false)) sql.exec(statement);
  writeMeta(sql, 'storage_format', String(STORAGE_FORMAT));
  writeMeta(sql, 'identity', newIdentity());
  writeMeta(sql, 'epoch', randomBytes(ID_BYTES));
  createLogSecret(sql);
  writeMeta(sql, 'schema', textOf(schema));
  sql.run(
    `INSERT INTO rockpool_site VALUES (?, ?, '', 0, ?, 0, 0, 0, 0)`,
    BigInt(SERVER_SITE_NUMBER),
    Buffer.from(SERVER_SITE, 'hex'),
    new Uint8Array(0),
  );
}

/** Returns the schema that the file has now. */
function migrate(sql: SqliteFile, own: Schema): Schema {
  if (sql.get(`SELECT 1 FROM sqlite_schema WHERE name = 'rockpool_meta'`) === undefined) {
    throw new RockpoolError('database-unavailable', { problem: 'the file is not a Rockpool database' });
  }
  let storageFormat = Number(readMeta(sql, 'storage_format'));
  for (let migration = MIGRATIONS[storageFormat]; migration !== undefined; migration = MIGRATIONS[storageFormat]) {
    sql.exec(migration);
    writeMeta(sql, 'storage_format', String(++storageFormat));
  }
  if (storageFormat !== STORAGE_FORMAT) {
    throw new RockpoolError('database-unavailable', {
      problem: 'the file has an unknown storage format',
      supported: STORAGE_FORMAT,
    });
  }
  const stored = readMeta(sql, 'schema') as string;
  if (stored === textOf(own)) return own;
  const before = decodeSchema(stored);
  const { schema, additions } = openedSchema(before, own);
  if (additions.length > 0)
    beginBirths(
      sql,
      syncedTables(before).map((table) => toStoredTable(table, false)),
    );
  for (const statement of additions) addToSchema(sql, statement);
  if (schema === own) {
    requireDocuments(sql, before, own);
    writeMeta(sql, 'schema', textOf(own));
  }
  return schema;
}

function addToSchema(sql: SqliteFile, statement: string): void {
  try {
    sql.exec(statement);
  } catch (error) {
    // For example, the table has rows, and the default of a new column is not a constant.
    throw new RockpoolError(
      'schema-incompatible',
      { count: 1, problems: 'SQLite cannot add part of the schema to the stored rows' },
      { cause: error },
    );
  }
}
