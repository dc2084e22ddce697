import {
  createLocalTime,
  decodeSchema,
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
import type { WriteAction } from '../../rpc/write-action.ts';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import { readCaptureTable } from '../capture/capture-table.ts';
import { TransactionCapture } from '../capture/transaction-capture.ts';
import { Changelog } from '../changelog/changelog.ts';
import { Outbox } from '../changelog/outbox.ts';
import { RejectedTable } from '../changelog/rejected-table.ts';
import { documentTables } from '../documents/document-columns.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import { ReadInterrupted } from '../leader/opened-database.ts';
import { SearchIndexes } from '../search/search-indexes.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { beginTransaction, type OpenTransaction } from '../write/open-transaction.ts';
import { RequestLog } from '../write/request-log.ts';
import { retryIfUnchanged, retryRejected } from '../write/retry-rejected.ts';
import { WriteTransaction } from '../write/write-transaction.ts';
import { createReads, type DatabaseReads } from './database-reads.ts';
import { installSchema, requireInstalled, type InstalledSchema } from './install-schema.ts';
import type { UndecidedChangeset } from './run-migrations.ts';
import { hasMigrations, isNewerThanFile, type BundleSchema } from './installed-schema.ts';
import { migrationCode } from './load-migration-code.ts';
import type { LocalDatabase } from './local-database.ts';
import { Meta } from '../file/meta.ts';
import { planSchemaChange } from '../file/schema-change.ts';
import { bindDatabase, requireDatabase } from './require-database.ts';
import { requirePrincipal } from './require-principal.ts';
import { runWrite, type RequestParts } from './run-write.ts';

// Pages of 8 KB need half as many calls as pages of 4 KB, and each call costs little more (docs/storage.md).
const PAGE_SIZE_BYTES = 8192;
// A transaction with pages that all fit in the cache reaches the storage as one batch.
const CACHE_KIB = 16 * 1024;

export interface OpenDatabaseOptions {
  readonly runtime: SqliteRuntime;
  /** A path in the given VFS, or ':memory:'. */
  readonly path: string;
  readonly vfsName?: string;
  readonly role: 'writer' | 'reader';
  readonly schema: Schema;
  /** Default: none; the file is brought to the schema by additions. */
  readonly migrations?: readonly Migration[] | null;
  /** The server database for which to open it; see require-database.ts. Default: none. */
  readonly databaseId?: string | null;
  /** See require-principal.ts. Default: the app does not name a user. */
  readonly principal?: string | null;
  readonly randomBytes: (count: number) => Uint8Array;
  /** The wall clock. */
  readonly nowMs: () => number;
  /** A monotonic clock in ms, independent of the wall clock. Default: `performance.now()`. */
  readonly elapsedMs?: () => number;
  /** Makes all commits so far survive a power loss. Default: does nothing. */
  readonly flush?: () => void;
  /** Called after each statement of a migration, which may take long. Default: does nothing. */
  readonly onStep?: () => void;
  /** The reason for a storage failure; see ConnectionOptions. */
  readonly storageError?: (primaryCode: number) => RockpoolError | null;
}

/** The local database, with the parts that sync uses. Only a writer may change anything. */
export interface OpenDatabase extends LocalDatabase, DatabaseReads {
  readonly connection: Connection;
  /** The file's schema: that of the app, with additions of bundles of other versions. Sync and capture use it. */
  readonly schema: Schema;
  /** This bundle's schema. */
  readonly appSchema: Schema;
  /** Why the app's statements may not write; null if they may. Sync continues either way. */
  readonly readOnly: RockpoolError | null;
  /** The synced tables and the system tables. */
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  readonly meta: Meta;
  readonly changelog: Changelog;
  readonly outbox: Outbox;
  readonly rejected: RejectedTable;
  readonly searchIndexes: SearchIndexes;
  /** Valid for this opening; the next opening continues from the changelog. */
  readonly localTime: LocalTime;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Makes all commits so far survive a power loss. */
  flush(): void;
  /**
   * Whether a bundle with this encoded schema, which has the same columns, is newer and can bring the file to its merge
   * rules now. False if this bundle did not bring the file to its own.
   */
  hasOlderRulesThan(theirs: string): boolean;
  /** Writes a rejected changeset again as a new one. See write/retry-rejected.ts. */
  retryRejected(sequence: number): WriteOutcome;
  /** Like `retryRejected`, for retries that no user requested. */
  retryIfUnchanged(sequence: number): WriteOutcome;
}

/**
 * Opens or creates the database. Throws `schema-incompatible` when the schema cannot be migrated additively,
 * `database-newer` for a file of a newer version of Rockpool, `storage-missing` for a reader while there is nothing to
 * read, `database-mismatch` when the file belongs to a different server database, and `storage-…` errors. The file is
 * then unchanged.
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
    isOnlyWriter: role === 'writer',
    ...(vfsName !== undefined && { vfsName }),
    ...(storageError !== undefined && { storageError }),
  });
  try {
    configure(connection, role);
    const meta = new Meta(connection);
    if (meta.exists) requireDatabase(meta, databaseId);
    const bundle: BundleSchema = { schema, migrations };
    const installed =
      role === 'writer'
        ? installSchema(connection, meta, {
            ...bundle,
            undecided: () => undecided(connection),
            randomBytes: options.randomBytes,
            onStep: options.onStep,
          })
        : requireInstalled(meta, bundle);
    if (role === 'writer') {
      dropTriggersOnInternalTables(connection);
      // Documents that only other bundles declare are not converted.
      if (documentTables(schema.tables).size > 0) documentSupport().storeDocuments(connection, installed.schema);
    }
    requirePrincipal(connection, meta, principal, role);
    if (role === 'writer') bindDatabase(meta, databaseId);
    return assemble(options, connection, meta, installed);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Earlier versions let apps create triggers on internal tables. Such triggers run after capture and can remove a write
 * from the changelog.
 */
function dropTriggersOnInternalTables(connection: Connection): void {
  const triggers = connection.rows(
    `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND lower(substr(tbl_name, 1, ?)) = ?`,
    RESERVED_TABLE_PREFIX.length,
    RESERVED_TABLE_PREFIX,
  );
  for (const [name] of triggers) connection.exec(`DROP TRIGGER ${quoteName(String(name))}`);
}

/** Changesets without an outcome from the server, and then rejected ones, which the app may retry. */
function* undecided(connection: Connection): Iterable<UndecidedChangeset> {
  const changelog = new Changelog(connection);
  yield* changelog.readAfter(new Outbox(connection, changelog).lastAckedSequence());
  for (const { changeset } of new RejectedTable(connection, changelog).list()) yield { ...changeset, isRejected: true };
}

/**
 * Whether a schema with the same columns is newer than the file's, and a bundle that has it, and runs migrations if
 * this one does, can bring the file to it now.
 */
function canTakeRulesOf(
  connection: Connection,
  meta: Meta,
  stored: Schema,
  { schema: wanted, migrations }: BundleSchema,
): boolean {
  try {
    if (!isNewerThanFile(meta, wanted)) return false;
    if (!hasMigrations(meta)) planSchemaChange(stored, wanted);
    // Only migrations can change a file that has some.
    else if (migrations === null || migrationCode().migrationRefusal(undecided(connection), stored, wanted) !== null)
      return false;
    return true;
  } catch {
    return false; // The other bundle cannot open the file, whichever tab leads.
  }
}

function configure(connection: Connection, role: 'writer' | 'reader'): void {
  connection.exec(
    `PRAGMA page_size = ${PAGE_SIZE_BYTES}; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`,
  );
  connection.setForeignKeys(true);
  connection.setDefensive(true);
  if (role === 'reader') connection.exec('PRAGMA query_only = ON');
}

/** Creates a local time that continues after the last changeset and the last contact. */
function resumeLocalTime(head: LastStamp, contact: ClockContact | null, options: OpenDatabaseOptions): LocalTime {
  const last = { stampUs: Math.max(head.stampUs, contact?.localUs ?? 0), shiftUs: head.shiftUs };
  return createLocalTime(last, options.nowMs, options.elapsedMs ?? ((): number => performance.now()));
}

function assemble(
  options: OpenDatabaseOptions,
  connection: Connection,
  meta: Meta,
  { schema, readOnly }: InstalledSchema,
): OpenDatabase {
  const { role, schema: appSchema, migrations = null, nowMs } = options;
  const tablesById = new Map([...syncedTables(schema), ...SYSTEM_TABLES].map((table) => [table.id, table]));
  const changelog = new Changelog(connection);
  const outbox = new Outbox(connection, changelog);
  const rejected = new RejectedTable(connection, changelog);
  const localTime = resumeLocalTime(changelog.head(), meta.clockContact, options);
  const searchIndexes = new SearchIndexes(connection, role === 'writer' ? schema : { tables: [] });
  // Created at the first write, so that the first read does not wait for it.
  let transaction: WriteTransaction | null = null;
  let closed = false;

  const requireOpen = (): void => {
    if (closed) throw new ReadInterrupted();
  };
  const requireWriter = (): WriteTransaction => {
    requireOpen();
    if (role === 'reader') throw new RockpoolError('sql-read-only', { role });
    transaction ??= createTransaction(
      { connection, schema, searchIndexes, changelog, meta, nowMs, localTime },
      appSchema,
      tablesById,
    );
    return transaction;
  };
  const parts = { connection, schema, tablesById, meta, changelog, outbox, rejected };
  const requestParts = (): RequestParts => ({ ...parts, transaction: requireWriter() });

  return {
    get siteId() {
      return meta.siteId;
    },
    ...parts,
    ...createReads({ ...parts, requireOpen }),
    role,
    appSchema,
    readOnly,
    searchIndexes,
    localTime,
    randomBytes: options.randomBytes,
    write(request: WriteRequest, refusal?: RockpoolError): WriteOutcome {
      const available = requestParts();
      requireMayWrite(readOnly, request.action);
      return runWrite(available, request, refusal);
    },
    begin(beginOptions): OpenTransaction {
      const writer = requireWriter();
      requireMayWrite(readOnly);
      return beginTransaction(writer, beginOptions);
    },
    flush: options.flush ?? ((): void => undefined),
    hasOlderRulesThan: (theirs: string): boolean =>
      meta.schemaHash === appSchema.hash &&
      canTakeRulesOf(connection, meta, schema, { schema: decodeSchema(theirs), migrations }),
    retryRejected: (sequence: number): WriteOutcome => retryRejected(requestParts(), sequence),
    retryIfUnchanged: (sequence: number): WriteOutcome => retryIfUnchanged(requestParts(), sequence),
    close(): void {
      if (closed) return;
      closed = true;
      transaction?.parts.capture.close();
      connection.close();
    },
  };
}

/** These do not depend on the meaning of the app's statements. A migration may wait for the last two. */
const ALWAYS_ALLOWED = ['pause-sync', 'resume-sync', 'retry-rejected', 'drop-rejected'];

function requireMayWrite(readOnly: RockpoolError | null, action?: WriteAction): void {
  if (readOnly !== null && !ALWAYS_ALLOWED.includes(action?.kind ?? ''))
    throw new RockpoolError(readOnly.code, readOnly.fields);
}

function createTransaction(
  parts: Omit<ConstructorParameters<typeof WriteTransaction>[0], 'capture' | 'requests'>,
  appSchema: Schema,
  tablesById: OpenDatabase['tablesById'],
): WriteTransaction {
  const { connection, schema } = parts;
  const tables = syncedTables(schema).map((table) => readCaptureTable(connection, table, appSchema));
  return new WriteTransaction({
    ...parts,
    capture: new TransactionCapture(connection, tables),
    requests: new RequestLog({ connection, changelog: parts.changelog, tablesById }),
  });
}
