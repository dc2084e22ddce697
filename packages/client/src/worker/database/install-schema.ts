import { decodeSchema, encodeSchema, RockpoolError, tableToDdl, type Schema } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { FORMAT_STEPS, internalDdl, STORAGE_FORMAT } from './internal-tables.ts';
import type { Meta } from './meta.ts';
import { planSchemaChange, type SchemaStep } from './schema-change.ts';

/** What opening found and did: a fresh file, the same schema, or one that was extended. */
export type SchemaInstallation = 'created' | 'same' | 'extended';

const SITE_ID_BYTES = 16;

/**
 * Makes the file hold exactly this schema, in one transaction. Throws `schema-incompatible`, and leaves the file as it was, when that
 * cannot be done by adding, or when the file belongs to something else or to another storage format.
 */
export function installSchema(connection: Connection, meta: Meta, schema: Schema, randomBytes: (count: number) => Uint8Array): SchemaInstallation {
  return inTransaction(connection, () => {
    if (connection.value('SELECT count(*) FROM sqlite_schema') === 0) {
      create(connection, meta, schema, randomBytes);
      return 'created';
    }
    updateFormat(connection, meta);
    requireOurs(connection, meta);
    const storedJson = meta.schemaJson;
    const wantedJson = encodeSchema(schema);
    if (storedJson === wantedJson) return 'same';
    for (const step of planSchemaChange(decodeSchema(storedJson), schema)) runStep(connection, step);
    meta.set('schema_json', wantedJson);
    meta.set('schema_hash', schema.hash);
    return 'extended';
  });
}

/**
 * For a connection that only reads: throws `storage-missing` while the file does not have everything that this schema names, which is so
 * until a writer of the same version has opened it. Tables and columns beyond it do no harm.
 */
export function requireInstalled(connection: Connection, meta: Meta, schema: Schema): SchemaInstallation {
  if (connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'rockpool_meta'") === 0) throw new RockpoolError('storage-missing');
  requireOurs(connection, meta);
  const storedJson = meta.schemaJson;
  if (storedJson === encodeSchema(schema)) return 'same';
  const stored = new Set(decodeSchema(storedJson).tables.flatMap(({ name, columns }) => columns.map((column) => JSON.stringify([name, column.name]))));
  for (const { name, columns } of schema.tables) {
    for (const column of columns) {
      if (!stored.has(JSON.stringify([name, column.name]))) throw new RockpoolError('storage-missing', { table: name, column: column.name });
    }
  }
  return 'extended';
}

function create(connection: Connection, meta: Meta, schema: Schema, randomBytes: (count: number) => Uint8Array): void {
  for (const sql of [...internalDdl(), ...schema.tables.flatMap(tableToDdl)]) connection.exec(sql);
  meta.set('storage_format', STORAGE_FORMAT);
  meta.set('site_id', randomBytes(SITE_ID_BYTES));
  meta.set('schema_json', encodeSchema(schema));
  meta.set('schema_hash', schema.hash);
  meta.set('log_epoch', null);
  meta.set('cursor', 0);
}

function updateFormat(connection: Connection, meta: Meta): void {
  if (connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'rockpool_meta'") === 0) return;
  const found = meta.get('storage_format');
  if (typeof found !== 'number' || found >= STORAGE_FORMAT) return;
  for (let format = found; format < STORAGE_FORMAT; format++) for (const sql of FORMAT_STEPS[format] ?? []) connection.exec(sql);
  meta.set('storage_format', STORAGE_FORMAT);
}

function requireOurs(connection: Connection, meta: Meta): void {
  if (connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'rockpool_meta'") === 0) {
    throw new RockpoolError('schema-incompatible', { problem: 'the file is not a Rockpool database' });
  }
  const found = meta.get('storage_format');
  if (found !== STORAGE_FORMAT) {
    throw new RockpoolError('schema-incompatible', { problem: 'another storage format', found: String(found), supported: STORAGE_FORMAT });
  }
}

function runStep(connection: Connection, { sql, table, column }: SchemaStep): void {
  try {
    connection.exec(sql);
  } catch (cause) {
    // A default that is not a constant, or rows that a new unique index does not allow.
    if (!(cause instanceof RockpoolError) || cause.code.startsWith('storage-')) throw cause;
    const problem = `SQLite refuses to add it: ${cause.code}`;
    throw new RockpoolError('schema-incompatible', column === null ? { table, problem } : { table, column, problem }, { cause });
  }
}

function inTransaction<T>(connection: Connection, body: () => T): T {
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
