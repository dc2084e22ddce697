import { buildSchema, encodeSchema, namedColumns, RockpoolError, tableToDdl, type Schema } from '@rockpool/shared';
import type { Migration } from '../../rpc/migration.ts';
import type { DecodedChangeset } from '../changelog/changelog.ts';
import { createSearchIndexes, dropSearchIndexes } from '../search/install-search-indexes.ts';
import type { Connection } from '../sqlite/connection.ts';
import { fitSchema, readStoredSchema, rememberSchema, type BundleSchema } from './installed-schema.ts';
import { FORMAT_STEPS, internalDdl, STORAGE_FORMAT } from './internal-tables.ts';
import type { Meta } from './meta.ts';
import { hasMigrations, hasNewMigrations, isBehind, rememberMigrations, runMigrations } from './run-migrations.ts';
import { planSchemaChange, type SchemaStep } from './schema-change.ts';

/** What opening found and did: a fresh file, the same schema, or one that was extended. */
export type SchemaInstallation = 'created' | 'same' | 'extended';

const SITE_ID_BYTES = 16;

export interface InstalledSchema {
  readonly installation: SchemaInstallation;
  /** The file's: the bundle's schema, and what other bundles have added. */
  readonly schema: Schema;
  /** Why the bundle may not write; null where it may. */
  readonly readOnly: RockpoolError | null;
}

export interface InstallOptions extends BundleSchema {
  /** Changesets that the server has not decided about. */
  readonly undecided: () => Iterable<DecodedChangeset>;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Makes the file hold this schema, in one transaction; what the file has beside it stays. Throws `schema-incompatible`,
 * and leaves the file as it was, when that cannot be done by adding or when the file belongs to something else, and
 * `database-newer` for a file of a newer version of Rockpool; with migrations also what `runMigrations` throws.
 */
export function installSchema(connection: Connection, meta: Meta, options: InstallOptions): InstalledSchema {
  const { schema, migrations } = options;
  if (migrations === null && isInstalled(meta, encodeSchema(schema)))
    return { installation: 'same', schema, readOnly: null };
  return inSchemaTransaction(connection, () => {
    const isFresh = connection.value('SELECT count(*) FROM sqlite_schema') === 0;
    if (isFresh) return createIn(connection, meta, options);
    updateFormat(connection, meta);
    requireRockpoolFile(meta);
    const stored = readStoredSchema(meta);
    const fit = fitSchema(meta, stored, options);
    if (fit.kind === 'behind') return { installation: 'same', schema: stored, readOnly: fit.reason };
    const target = fit.kind === 'beside' ? fit.target : schema;
    if (fit.kind === 'newer' && migrations !== null && hasMigrations(meta))
      migrate(connection, meta, stored, { ...options, migrations });
    else {
      if (target !== stored) extend(connection, stored, target);
      // A file that was made without migrations is where they lead, so they are done with.
      if (migrations !== null && !hasMigrations(meta)) rememberMigrations(meta, migrations);
    }
    if (encodeSchema(target) === meta.schemaJson) return { installation: 'same', schema: target, readOnly: null };
    if (meta.schemaHash !== target.hash && meta.logEpoch !== null) meta.set('wants_whole', 1);
    rememberSchema(meta, target, schema);
    return { installation: 'extended', schema: target, readOnly: null };
  });
}

function createIn(connection: Connection, meta: Meta, options: InstallOptions): InstalledSchema {
  const { schema, migrations, randomBytes } = options;
  create(connection, meta, migrations === null ? schema : EMPTY_SCHEMA, randomBytes);
  if (migrations !== null) {
    migrate(connection, meta, EMPTY_SCHEMA, { ...options, migrations });
    rememberSchema(meta, schema, schema);
  }
  return { installation: 'created', schema, readOnly: null };
}

/** As it mostly is: then there is nothing to be done in a transaction. Only the writer changes any of it. */
function isInstalled(meta: Meta, wantedJson: string): boolean {
  return (
    meta.exists &&
    meta.get('storage_format') === STORAGE_FORMAT &&
    meta.schemaJson === wantedJson &&
    !hasMigrations(meta)
  );
}

function extend(connection: Connection, stored: Schema, wanted: Schema): void {
  for (const step of [
    ...dropSearchIndexes(stored, wanted),
    ...planSchemaChange(stored, wanted),
    ...createSearchIndexes(stored, wanted),
  ])
    runStep(connection, step);
}

/** A migration may build a table anew, whose rows then have other rowids, by which search indexes name them. */
function migrate(
  connection: Connection,
  meta: Meta,
  stored: Schema,
  { schema, migrations, undecided }: InstallOptions & { readonly migrations: readonly Migration[] },
): void {
  const changesSchema = hasNewMigrations(meta, migrations) || encodeSchema(stored) !== encodeSchema(schema);
  if (changesSchema) for (const step of dropSearchIndexes(stored, EMPTY_SCHEMA)) runStep(connection, step);
  runMigrations({ connection, meta, undecided }, migrations, stored, schema);
  if (changesSchema) for (const step of createSearchIndexes(EMPTY_SCHEMA, schema)) runStep(connection, step);
}

/** What a fresh database holds before the first migration. */
const EMPTY_SCHEMA: Schema = buildSchema([]);

/**
 * For a connection that only reads: throws `storage-missing` while the file does not have everything that this schema
 * names, which is so until a writer of the same version has opened it. A bundle that the file has left behind reads
 * what there is.
 */
export function requireInstalled(meta: Meta, bundle: BundleSchema): InstalledSchema {
  if (!meta.exists) throw new RockpoolError('storage-missing');
  requireRockpoolFile(meta);
  const { schema } = bundle;
  if (meta.schemaJson === encodeSchema(schema)) return { installation: 'same', schema, readOnly: null };
  const stored = readStoredSchema(meta);
  if (hasMigrations(meta) && isBehind(meta, bundle.migrations ?? []))
    return { installation: 'same', schema: stored, readOnly: null };
  const known = new Set(namedColumns(stored).map((named) => JSON.stringify(named)));
  for (const named of namedColumns(schema)) {
    if (!known.has(JSON.stringify(named)))
      throw new RockpoolError('storage-missing', { table: named[0], column: named[1] });
  }
  return { installation: 'extended', schema: stored, readOnly: null };
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
      problem: 'another storage format',
      found: String(found),
      supported: STORAGE_FORMAT,
    });
  }
}

function runStep(connection: Connection, { sql, table, column }: SchemaStep): void {
  try {
    connection.exec(sql);
  } catch (cause) {
    // A default that is not a constant, or rows that a new unique index does not allow.
    if (!(cause instanceof RockpoolError) || cause.code.startsWith('storage-')) throw cause;
    const problem = `SQLite refuses to add it: ${cause.code}`;
    throw new RockpoolError('schema-incompatible', column === null ? { table, problem } : { table, column, problem }, {
      cause,
    });
  }
}

/**
 * Foreign keys are off: a table that is built anew is dropped under those that refer to it. What stands at the end is
 * looked at.
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
