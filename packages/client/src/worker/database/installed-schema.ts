import { decodeSchema, encodeSchema, RockpoolError, type Schema } from '@rockpool/shared';
import type { Migration } from '../../rpc/migration.ts';
import type { Meta } from '../file/meta.ts';
import { migrationCode } from './load-migration-code.ts';
import { uniteSchemas } from '../file/unite-schemas.ts';

/**
 * How a bundle's schema relates to the file that it opens:
 * - `same`: the file has this schema.
 * - `newer`: the file is brought to this schema, by additions or by migrations.
 * - `beside`: the file has parts that this bundle does not know. The bundle's own additions are made (`target`, which
 *   is the stored schema if it has none), and the bundle reads and writes.
 * - `behind`: the file has changed in a way that this bundle's statements do not fit. The bundle reads and does not
 *   write.
 */
export type SchemaFit =
  | { readonly kind: 'same' | 'newer' }
  | { readonly kind: 'beside'; readonly target: Schema }
  | { readonly kind: 'behind'; readonly reason: RockpoolError };

export interface BundleSchema {
  readonly schema: Schema;
  /** The migrations to run. Null: the file is brought to the schema by additions. */
  readonly migrations: readonly Migration[] | null;
}

/** Whether migrations have run on the file. */
export function hasMigrations(meta: Meta): boolean {
  return (meta.get('migrations_json') ?? '[]') !== '[]';
}

/** Throws `schema-incompatible` if the bundle's schema does not fit the file and the two cannot be united. */
export function fitSchema(meta: Meta, stored: Schema, { schema, migrations }: BundleSchema): SchemaFit {
  if (hasMigrations(meta))
    return migrations === null || migrationCode().isBehind(meta, migrations)
      ? fitBehind(stored, schema)
      : { kind: 'newer' };
  const wantedJson = encodeSchema(schema);
  if (meta.schemaJson === wantedJson) return { kind: 'same' };
  if (migrations === null && (wasInstalled(meta, schema) || hasMoreThan(stored, schema)))
    return { kind: 'beside', target: uniteSchemas(stored, schema) };
  return { kind: 'newer' };
}

/** A newer bundle has run its migrations on this file, and this bundle must not change their result. */
function fitBehind(stored: Schema, schema: Schema): SchemaFit {
  try {
    const united = uniteSchemas(stored, schema);
    const missing = firstMissing(stored, united);
    if (missing === null) return { kind: 'beside', target: withSearchIndexesOf(stored, united) };
    return { kind: 'behind', reason: new RockpoolError('app-outdated', missing) };
  } catch (thrown) {
    if (!(thrown instanceof RockpoolError) || thrown.code !== 'schema-incompatible') throw thrown;
    return { kind: 'behind', reason: new RockpoolError('app-outdated', thrown.fields, { cause: thrown }) };
  }
}

function firstMissing(stored: Schema, united: Schema): Readonly<Record<string, string>> | null {
  for (const table of united.tables) {
    const before = stored.tables.find(({ name }) => name === table.name);
    if (before === undefined) return { table: table.name, problem: 'the database no longer has this table' };
    const column = table.columns.find(({ name }) => !before.columns.some((known) => known.name === name));
    if (column !== undefined)
      return { table: table.name, column: column.name, problem: 'the database no longer has this column' };
    const unique = table.indexes.find(
      (index) => index.unique && !before.indexes.some(({ name }) => name === index.name),
    );
    if (unique !== undefined)
      return { table: table.name, problem: `the database no longer has the unique index ${unique.name}` };
  }
  return null;
}

/** Migrations create and drop all other indexes; Rockpool creates search indexes. */
function withSearchIndexesOf(stored: Schema, united: Schema): Schema {
  const tables = stored.tables.map((table) => {
    const { searchIndexes } = united.tables.find(({ name }) => name === table.name) ?? table;
    return searchIndexes === undefined || searchIndexes.length === table.searchIndexes?.length
      ? table
      : { ...table, searchIndexes };
  });
  return tables.every((table, index) => table === stored.tables[index]) ? stored : { ...stored, tables };
}

function hasMoreThan(stored: Schema, schema: Schema): boolean {
  return stored.tables.some((table) => {
    const declared = schema.tables.find(({ name }) => name === table.name);
    return (
      declared === undefined ||
      table.columns.some(({ name }) => !declared.columns.some((column) => column.name === name))
    );
  });
}

/**
 * Merge rules alone do not show which of two bundles is older, so the bundle whose schema was installed earlier counts
 * as the older one.
 */
function wasInstalled(meta: Meta, schema: Schema): boolean {
  return schema.hash !== meta.schemaHash && !isNewerThanFile(meta, schema);
}

/**
 * Whether this schema is that of a newer bundle: the file never had it, or had it first after its current one. Only a
 * bundle with migrations brings a file back to an earlier schema.
 */
export function isNewerThanFile(meta: Meta, { hash }: Schema): boolean {
  const history = readHistory(meta);
  const [first, current] = [history.indexOf(hash), history.indexOf(meta.schemaHash)];
  return hash !== meta.schemaHash && (first < 0 || (current >= 0 && first > current));
}

/**
 * The maximum number of schemas in the history, above the number of app versions in use at the same time. The
 * oldest are dropped first.
 */
const MAX_REMEMBERED_SCHEMAS = 100;

/** Sets the file's schema and records it in the history of installed schemas. */
export function rememberSchema(meta: Meta, target: Schema, bundle: Schema): void {
  const before = meta.get('schema_hash');
  const history = new Set([...readHistory(meta), ...(typeof before === 'string' ? [before] : []), bundle.hash]);
  meta.set('schema_history_json', JSON.stringify([...history].slice(-MAX_REMEMBERED_SCHEMAS)));
  meta.set('schema_json', encodeSchema(target));
  meta.set('schema_hash', target.hash);
}

/** Throws `database-newer` for a schema that only a newer version of Rockpool can read. */
export function readStoredSchema(meta: Meta): Schema {
  try {
    return decodeSchema(meta.schemaJson);
  } catch (cause) {
    throw new RockpoolError(
      'database-newer',
      { problem: 'this version of Rockpool cannot read the schema of the database' },
      { cause },
    );
  }
}

function readHistory(meta: Meta): readonly string[] {
  return JSON.parse((meta.get('schema_history_json') ?? '[]') as string) as string[];
}
