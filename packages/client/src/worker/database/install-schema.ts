import { buildSchema, encodeSchema, namedColumns, RockpoolError, tableToDdl, type Schema } from '@rockpool/shared';
import type { Migration } from '../../rpc/migration.ts';
import { createSearchIndexes, dropSearchIndexes } from '../search/install-search-indexes.ts';
import type { Connection } from '../sqlite/connection.ts';
import { fitSchema, hasMigrations, readStoredSchema, rememberSchema, type BundleSchema } from './installed-schema.ts';
import { migrationCode } from './load-migration-code.ts';
import { FORMAT_STEPS, internalDdl, STORAGE_FORMAT } from '../file/internal-tables.ts';
import type { Meta } from '../file/meta.ts';
import { addUnseenColumns } from '../file/unseen-columns.ts';
import type { UndecidedChangeset } from './run-migrations.ts';
import { planSchemaChange, type SchemaStep } from '../file/schema-change.ts';

const SITE_ID_BYTES = 16;

export interface InstalledSchema {
  /** The file's schema: that of the bundle, with additions of other bundles. */
  readonly schema: Schema;
  /** Why the bundle may not write; null if it may. */
  readonly readOnly: RockpoolError | null;
}

export interface InstallOptions extends BundleSchema {
  /** Changesets without an outcome from the server, and rejected ones, which the app may retry. */
  readonly undecided: () => Iterable<UndecidedChangeset>;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Called after each statement that may take long. */
  readonly onStep: (() => void) | undefined;
}

/**
 * Brings the file to this schema in one transaction, and keeps everything else in the file. Throws
 * `schema-incompatible` when the schema cannot be migrated additively or the file is not a Rockpool database,
 * `database-newer` for a file of a newer version of Rockpool, and, with migrations, the errors of `hasChanges` and
 * `runMigrations`. The file is then unchanged.
 */
export function installSchema(connection: Connection, meta: Meta, options: InstallOptions): InstalledSchema {
  const { schema, migrations } = options;
  if (migrations === null && isInstalled(meta, encodeSchema(schema))) return { schema, readOnly: null };
  return inSchemaTransaction(connection, () => {
    const isFresh = connection.value('SELECT count(*) FROM sqlite_schema') === 0;
    if (isFresh) return createIn(connection, meta, options);
    updateFormat(connection, meta);
    requireRockpoolFile(meta);
    const stored = readStoredSchema(meta);
    const fit = fitSchema(meta, stored, options);
    if (fit.kind === 'behind') return { schema: stored, readOnly: fit.reason };
    const target = fit.kind === 'beside' ? fit.target : schema;
    if (fit.kind === 'newer' && migrations !== null && hasMigrations(meta)) {
      const reason = migrate(connection, meta, stored, { ...options, migrations });
      if (reason !== null) return { schema: stored, readOnly: reason };
    } else {
      if (target !== stored) extend(connection, stored, target, options.onStep);
      // A file created without migrations already has their result, so they are recorded as run.
      if (migrations !== null && !hasMigrations(meta)) migrationCode().rememberMigrations(meta, migrations);
    }
    if (encodeSchema(target) === meta.schemaJson) return { schema: target, readOnly: null };
    if (meta.schemaHash !== target.hash && meta.logEpoch !== null) {
      meta.set('wants_whole', 1);
      addUnseenColumns(meta, stored, target);
    }
    rememberSchema(meta, target, schema);
    return { schema: target, readOnly: null };
  });
}

function createIn(connection: Connection, meta: Meta, options: InstallOptions): InstalledSchema {
  const { schema, migrations, randomBytes } = options;
  create(connection, meta, migrations === null ? schema : EMPTY_SCHEMA, randomBytes);
  if (migrations !== null) {
    migrate(connection, meta, EMPTY_SCHEMA, { ...options, migrations });
    rememberSchema(meta, schema, schema);
  }
  return { schema, readOnly: null };
}

/** The common case, which needs no transaction. Only the writer changes the values compared here. */
function isInstalled(meta: Meta, wantedJson: string): boolean {
  return (
    meta.exists &&
    meta.get('storage_format') === STORAGE_FORMAT &&
    meta.schemaJson === wantedJson &&
    !hasMigrations(meta)
  );
}

function extend(connection: Connection, stored: Schema, wanted: Schema, onStep: InstallOptions['onStep']): void {
  const steps = [
    ...dropSearchIndexes(stored, wanted),
    ...planSchemaChange(stored, wanted),
    ...createSearchIndexes(stored, wanted),
  ];
  runSteps(connection, steps, onStep);
}

/**
 * Returns the reason if the migrations must wait for undecided changes; nothing has changed then. Search indexes refer
 * to rows by rowid, and a migration may rebuild a table with other rowids, so they are dropped before migrations and
 * created again after them.
 */
function migrate(
  connection: Connection,
  meta: Meta,
  stored: Schema,
  { schema, migrations, undecided, onStep }: InstallOptions & { readonly migrations: readonly Migration[] },
): RockpoolError | null {
  const { hasChanges, migrationRefusal, runMigrations } = migrationCode();
  if (!hasChanges(meta, migrations, stored, schema)) return null;
  const refusal = migrationRefusal(undecided(), stored, schema);
  if (refusal !== null) return refusal;
  runSteps(connection, dropSearchIndexes(stored, EMPTY_SCHEMA), onStep);
  runMigrations({ connection, meta, onStep }, migrations, stored, schema);
  runSteps(connection, createSearchIndexes(EMPTY_SCHEMA, schema), onStep);
  return null;
}

/** The schema before the first migration of a new database. */
const EMPTY_SCHEMA: Schema = buildSchema([]);

/**
 * Checks the schema for a connection that only reads. Throws `storage-missing` while the file lacks a part of this
 * schema, that is, until a writer of the same version has opened it. With migrations, a bundle reads the parts that it
 * knows of a file that is ahead of it, or whose migration waits for undecided changes. The reader keeps this schema
 * until it is opened again, which a tab does when the next leader may have migrated.
 */
export function requireInstalled(meta: Meta, { schema }: BundleSchema): InstalledSchema {
  if (!meta.exists) throw new RockpoolError('storage-missing');
  requireRockpoolFile(meta);
  if (meta.schemaJson === encodeSchema(schema)) return { schema, readOnly: null };
  const stored = readStoredSchema(meta);
  if (hasMigrations(meta)) return { schema: stored, readOnly: null };
  const known = new Set(namedColumns(stored).map((named) => JSON.stringify(named)));
  for (const named of namedColumns(schema)) {
    if (!known.has(JSON.stringify(named)))
      throw new RockpoolError('storage-missing', { table: named[0], column: named[1] });
  }
  return { schema: stored, readOnly: null };
}

function create(connection: Connection, meta: Meta, schema: Schema, randomBytes: (count: number) => Uint8Array): void {
  for (const sql of [...internalDdl(), ...schema.tables.flatMap(tableToDdl)]) connection.exec(sql);
  for (const step of createSearchIndexes(EMPTY_SCHEMA, schema)) runStep(connection, step);
  meta.set('storage_format', STORAGE_FORMAT);
  meta.set('site_id', randomBytes(SITE_ID_BYTES));
  meta.set('schema_json', encodeSchema(schema));
  meta.set('schema_hash', schema.hash);
  meta.set('log_epoch', null);
  meta.set('cursor', 0);
}

function updateFormat(connection: Connection, meta: Meta): void {
  if (!meta.exists) return;
  const found = meta.get('storage_format');
  if (typeof found !== 'number' || found >= STORAGE_FORMAT) return;
  for (let format = found; format < STORAGE_FORMAT; format++)
    for (const sql of FORMAT_STEPS[format] ?? []) connection.exec(sql);
  meta.set('storage_format', STORAGE_FORMAT);
}

function requireRockpoolFile(meta: Meta): void {
  if (!meta.exists) {
    throw new RockpoolError('schema-incompatible', { problem: 'the file is not a Rockpool database' });
  }
  const found = meta.get('storage_format');
  if (typeof found === 'number' && found > STORAGE_FORMAT)
    throw new RockpoolError('database-newer', { storageFormat: found, supported: STORAGE_FORMAT });
  if (found !== STORAGE_FORMAT) {
    throw new RockpoolError('schema-incompatible', {
      problem: 'the storage format is not supported',
      found: String(found),
      supported: STORAGE_FORMAT,
    });
  }
}

function runSteps(connection: Connection, steps: readonly SchemaStep[], onStep: InstallOptions['onStep']): void {
  for (const step of steps) {
    runStep(connection, step);
    onStep?.();
  }
}

function runStep(connection: Connection, { sql, table, column }: SchemaStep): void {
  try {
    connection.exec(sql);
  } catch (cause) {
    // For example, SQLite rejects a default that is not constant, or rows that violate a new unique index.
    if (!(cause instanceof RockpoolError) || cause.code.startsWith('storage-')) throw cause;
    const problem = `SQLite rejects the change: ${cause.code}`;
    throw new RockpoolError('schema-incompatible', column === null ? { table, problem } : { table, column, problem }, {
      cause,
    });
  }
}

/**
 * Runs `body` with foreign keys off, because rebuilding a table drops it while others refer to it. Foreign keys are
 * checked at the end.
 */
function inSchemaTransaction<T>(connection: Connection, body: () => T): T {
  connection.setForeignKeys(false);
  try {
    return commitOrRollback(connection, body);
  } finally {
    connection.setForeignKeys(true);
  }
}

function commitOrRollback<T>(connection: Connection, body: () => T): T {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const result = body();
    connection.exec('COMMIT');
    return result;
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}
