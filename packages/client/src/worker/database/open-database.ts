import {
  createLocalTime,
  quoteName,
  RESERVED_TABLE_PREFIX,
  RockpoolError,
  syncedTables,
  SYSTEM_TABLES,
  type ClockContact,
  type LastStamp,
  type LocalTime,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import type { Migration } from '../../rpc/migration.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { RejectedChangeset } from '../../rpc/rejected-changeset.ts';
import type { QueryDependencies } from '../../rpc/query-dependencies.ts';
import type { QueryResult } from '../../rpc/reads.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { RowSyncState } from '../../rpc/row-sync-state.ts';
import type { SqlParam, SqlValue } from '../../rpc/sql-value.ts';
import type { WriteAction } from '../../rpc/write-action.ts';
import type { WriteState } from '../../rpc/write-state.ts';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import { readCaptureTable } from '../capture/capture-table.ts';
import { SessionCapture } from '../capture/session-capture.ts';
import { Changelog, type DecodedChangeset } from '../changelog/changelog.ts';
import { listRejected } from '../changelog/list-rejected.ts';
import { Outbox } from '../changelog/outbox.ts';
import { RejectedTable } from '../changelog/rejected-table.ts';
import { rowSyncState } from '../changelog/row-sync-state.ts';
import { writeStates } from '../changelog/write-states.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import { documentTables } from '../documents/document-columns.ts';
import { SearchIndexes } from '../search/search-indexes.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import type { OpenTransaction } from '../write/open-transaction.ts';
import { RequestLog } from '../write/request-log.ts';
import { restoreConflict } from '../write/restore-conflict.ts';
import {
  dropRejected,
  replaceRejected,
  retryRejected,
  retryIfUnchanged,
  type RejectedParts,
} from '../write/retry-rejected.ts';
import { createDependencyReader } from '../live/query-dependencies.ts';
import { undoRequest } from '../write/undo-request.ts';
import { WriteTransaction } from '../write/write-transaction.ts';
import { installSchema, requireInstalled, type InstalledSchema } from './install-schema.ts';
import type { BundleSchema } from './installed-schema.ts';
import type { LocalDatabase } from './local-database.ts';
import { Meta } from './meta.ts';
import { bindDatabase, requireDatabase } from './require-database.ts';
import { requirePrincipal } from './require-principal.ts';
import { QueryRun, queryWithin } from './query-run.ts';
import { openCursor, type RowCursor } from './row-cursor.ts';

// The page size has its reasons in storage: 8 KB halves the number of calls of 4 KB and costs little more each.
const PAGE_SIZE_BYTES = 8192;
// A transaction whose pages fit in the cache reaches the storage as one batch.
const CACHE_KIB = 16 * 1024;

export interface OpenDatabaseOptions {
  readonly runtime: SqliteRuntime;
  /** In the given VFS, or ':memory:'. */
  readonly path: string;
  readonly vfsName?: string;
  readonly role: 'writer' | 'reader';
  readonly schema: Schema;
  /** Default: none, the file is brought to the schema by adding. */
  readonly migrations?: readonly Migration[] | null;
  /** The server database that it is opened for; see require-database.ts. Default: none. */
  readonly databaseId?: string | null;
  /** See require-principal.ts. Default: the app does not say. */
  readonly principal?: string | null;
  readonly randomBytes: (count: number) => Uint8Array;
  /** What the wall clock shows. */
  readonly nowMs: () => number;
  /** Time that passes, in ms from any moment on, whatever is done to the wall clock. Default: `performance.now()`. */
  readonly elapsedMs?: () => number;
  /** Makes all commits so far survive power loss. Default: nothing to do. */
  readonly flush?: () => void;
  /** Why the storage last failed; see ConnectionOptions. */
  readonly storageError?: () => RockpoolError | null;
}

/** The local database, and what lies under it for sync. Only a writer may change anything. */
export interface OpenDatabase extends LocalDatabase {
  readonly connection: Connection;
  /** The file's: the app's schema, and what bundles of other versions have added. Sync and capture go by it. */
  readonly schema: Schema;
  /** Of this bundle. */
  readonly appSchema: Schema;
  /** Why this bundle may not write; null where it may. Sync goes on. */
  readonly readOnly: RockpoolError | null;
  /** Synced tables and system tables. */
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  readonly meta: Meta;
  readonly changelog: Changelog;
  readonly outbox: Outbox;
  readonly rejected: RejectedTable;
  readonly searchIndexes: SearchIndexes;
  /** Of this opening: another one begins where the changelog ends. */
  readonly localTime: LocalTime;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Makes all commits so far survive power loss. */
  flush(): void;
  /** The rows of a query, some at a time, all of one moment: nothing else can be read on this connection meanwhile. */
  openCursor(statement: SqlStatement): RowCursor;
  /** Several queries, all of one moment; null for one that takes longer than so many ms. */
  queryAll(statements: readonly SqlStatement[], eachWithinMs: number): (QueryResult | null)[];
  /** `query` in parts. Ended before `close`. */
  startQuery(statement: SqlStatement): QueryRun;
  /** For the app; on a reader too. */
  listRejected(): RejectedChangeset[];
  /** Throws `schema-unknown-table`, and `key-invalid` for a key of another number of parts. */
  rowSyncState(tableName: string, key: readonly SqlValue[]): RowSyncState;
  writeStates(requestIds: readonly string[]): WriteState[];
  /** Makes a rejected changeset a new one. See write/retry-rejected.ts. */
  retryRejected(sequence: number): WriteOutcome;
  /** The same where nobody is asked. */
  retryIfUnchanged(sequence: number): WriteOutcome;
}

/**
 * Opens or creates the database. Throws `schema-incompatible` when the file cannot be brought to the schema by adding,
 * `database-newer` for a file of a newer version of Rockpool, `storage-missing` for a reader while there is nothing to
 * read, `database-mismatch` when it belongs to another server database, and `storage-…` errors; the file is then as it
 * was.
 */
export function openDatabase(options: OpenDatabaseOptions): OpenDatabase {
  const {
    runtime,
    path,
    vfsName,
    role,
    schema,
    migrations = null,
    databaseId = null,
    principal = null,
    storageError,
  } = options;
  const connection = new Connection(runtime, {
    path,
    readOnly: role === 'reader',
    ...(vfsName === undefined ? {} : { vfsName }),
    ...(storageError === undefined ? {} : { storageError }),
  });
  try {
    configure(connection, role);
    const meta = new Meta(connection);
    if (meta.isThere) requireDatabase(meta, databaseId);
    const bundle: BundleSchema = { schema, migrations };
    const installed =
      role === 'writer'
        ? installSchema(connection, meta, {
            ...bundle,
            undecided: () => undecided(connection),
            randomBytes: options.randomBytes,
          })
        : requireInstalled(meta, bundle);
    if (role === 'writer') dropTriggersOnInternalTables(connection);
    requirePrincipal(meta, new Outbox(connection, new Changelog(connection)), principal, role);
    if (role === 'writer') bindDatabase(meta, databaseId);
    return assemble(options, connection, meta, installed);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Earlier versions let apps create them. They run after capture and can take a write out of the changelog. */
function dropTriggersOnInternalTables(connection: Connection): void {
  const triggers = connection.rows(
    `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND lower(substr(tbl_name, 1, ?)) = ?`,
    RESERVED_TABLE_PREFIX.length,
    RESERVED_TABLE_PREFIX,
  );
  for (const [name] of triggers) connection.exec(`DROP TRIGGER ${quoteName(String(name))}`);
}

function undecided(connection: Connection): Iterable<DecodedChangeset> {
  const changelog = new Changelog(connection);
  return changelog.readAfter(new Outbox(connection, changelog).lastAckedSequence());
}

function configure(connection: Connection, role: 'writer' | 'reader'): void {
  connection.exec(
    `PRAGMA page_size = ${PAGE_SIZE_BYTES}; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`,
  );
  connection.setForeignKeys(true);
  connection.setDefensive(true);
  if (role === 'reader') connection.exec('PRAGMA query_only = ON');
}

/** Local time goes on after the last changeset and the last contact. */
function lastStamp(head: LastStamp, contact: ClockContact | null): LastStamp {
  return { stampUs: Math.max(head.stampUs, contact?.localUs ?? 0), shiftUs: head.shiftUs };
}

function assemble(
  options: OpenDatabaseOptions,
  connection: Connection,
  meta: Meta,
  { schema, installation, readOnly }: InstalledSchema,
): OpenDatabase {
  const { role, schema: appSchema, nowMs } = options;
  const tablesById = new Map([...syncedTables(schema), ...SYSTEM_TABLES].map((table) => [table.id, table]));
  const changelog = new Changelog(connection);
  const outbox = new Outbox(connection, changelog);
  const rejected = new RejectedTable(connection, changelog);
  const localTime = createLocalTime(
    lastStamp(changelog.head(), meta.clockContact),
    nowMs,
    options.elapsedMs ?? ((): number => performance.now()),
  );
  const readDependencies = createDependencyReader(connection, schema);
  const searchIndexes = new SearchIndexes(connection, role === 'writer' ? schema : { tables: [] });
  // Made for the first write: the first read does not wait for what only writes need.
  let transaction: WriteTransaction | null = null;
  let closed = false;

  const requireOpen = (): void => {
    if (closed) throw new RockpoolError('client-closed');
  };
  /** Sync and its switch do not depend on what the app's statements mean. */
  const requireMayWrite = (action?: WriteAction): void => {
    if (readOnly !== null && action?.kind !== 'pause-sync' && action?.kind !== 'resume-sync')
      throw new RockpoolError(readOnly.code, readOnly.fields);
  };
  const requireWriter = (): WriteTransaction => {
    requireOpen();
    if (role === 'reader') throw new RockpoolError('sql-read-only', { role });
    transaction ??= createTransaction();
    return transaction;
  };

  function createTransaction(): WriteTransaction {
    const capture = new SessionCapture(
      connection,
      syncedTables(schema).map((table) => readCaptureTable(connection, table, appSchema)),
    );
    return new WriteTransaction({
      connection,
      schema,
      capture,
      searchIndexes,
      changelog,
      requests: new RequestLog(connection),
      meta,
      nowMs,
      localTime,
    });
  }

  /** Whatever another tab writes meanwhile. */
  function atOneMoment<T>(read: () => T): T {
    requireOpen();
    connection.run('BEGIN');
    try {
      return read();
    } finally {
      if (connection.inTransaction) connection.run('COMMIT');
    }
  }

  const rejectedParts = (): RejectedParts => ({
    connection,
    rejected,
    outbox,
    transaction: requireWriter(),
    tablesById,
  });

  return {
    get siteId() {
      return meta.siteId;
    },
    role,
    connection,
    schema,
    appSchema,
    readOnly,
    tablesById,
    meta,
    changelog,
    outbox,
    rejected,
    searchIndexes,
    localTime,
    randomBytes: options.randomBytes,
    schemaState: () => ({ hash: schema.hash, installation }),
    query(sql: string, params: readonly SqlParam[]): EncodedRows {
      requireOpen();
      return new QueryRun(connection, { sql, params }).goOn(Number.POSITIVE_INFINITY) as EncodedRows;
    },
    queryAll: (statements, eachWithinMs) =>
      atOneMoment(() => statements.map((statement) => queryWithin(connection, statement, eachWithinMs))),
    startQuery(statement: SqlStatement): QueryRun {
      requireOpen();
      return new QueryRun(connection, statement);
    },
    openCursor(statement: SqlStatement): RowCursor {
      requireOpen();
      return openCursor(connection, statement);
    },
    dependencies(statement: SqlStatement): QueryDependencies {
      requireOpen();
      return readDependencies(statement);
    },
    write(request: WriteRequest): WriteOutcome {
      const writer = requireWriter();
      const { id, action } = request;
      requireMayWrite(action);
      switch (action?.kind) {
        case 'retry-rejected':
          return retryRejected(rejectedParts(), action.sequence, id);
        case 'replace-rejected':
          return replaceRejected(rejectedParts(), action.sequence, request);
        case 'drop-rejected':
          return dropRejected(rejectedParts(), action.sequence, id);
        case 'change-document':
          if (documentTables(schema.tables).size === 0)
            throw new RockpoolError('document-unknown', { table: action.table, column: action.column });
          // The text of a document is far longer than a change of it, and pages ask for changes all the time.
          return writer.runRereadable(
            () => ({ atomic: false, results: [documentSupport().changeDocument(connection, schema, action)] }),
            () => [documentSupport().readDocument(connection, schema, action)],
            id,
          );
        case 'restore-conflict':
          return writer.runInternal(() => {
            restoreConflict(connection, schema, action.conflictId);
            return { atomic: false };
          }, id);
        case 'undo':
          return undoRequest({ connection, changelog, transaction: writer, tablesById }, action.requestId, id);
        case 'pause-sync':
        case 'resume-sync':
          return writer.runInternal(() => {
            meta.set('sync_paused', action.kind === 'pause-sync' ? 1 : 0);
            return { atomic: false };
          }, id);
        case 'commit-transaction':
          // Its leader committed it, or has gone with it.
          return writer.runInternal(() => {
            throw new RockpoolError('transaction-lost');
          }, id);
        default:
          return writer.run(request);
      }
    },
    begin(beginOptions): OpenTransaction {
      const writer = requireWriter();
      requireMayWrite();
      return writer.begin(beginOptions);
    },
    listRejected: () => atOneMoment(() => listRejected(rejected, outbox, tablesById)),
    rowSyncState(tableName: string, key: readonly SqlValue[]): RowSyncState {
      const table = syncedTables(schema).find(({ name }) => name === tableName);
      if (table === undefined) throw new RockpoolError('schema-unknown-table', { table: tableName });
      return atOneMoment(() => rowSyncState({ connection, changelog, outbox, rejected }, table, key));
    },
    writeStates: (requestIds: readonly string[]) => atOneMoment(() => writeStates(connection, requestIds)),
    flush: options.flush ?? ((): void => undefined),
    retryRejected: (sequence: number): WriteOutcome => retryRejected(rejectedParts(), sequence),
    retryIfUnchanged: (sequence: number): WriteOutcome => retryIfUnchanged(rejectedParts(), sequence),
    close(): void {
      if (closed) return;
      closed = true;
      transaction?.parts.capture.close();
      connection.close();
    },
  };
}
