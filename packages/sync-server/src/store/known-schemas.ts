import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeSchema, encodeSchema, type Schema } from '@rockpool/shared';
import { schemaView, type SchemaView } from './schema-view.ts';

/** The schemas whose clients are served, by hash. Null stands for the server's own schema, which hides nothing. */
export type KnownSchemas = ReadonlyMap<string, SchemaView | null>;

/**
 * Round-trips a schema through its file format, so that the members of its rules have the same order however it was
 * built.
 */
function roundTrip(schema: Schema): Schema {
  return decodeSchema(encodeSchema(schema));
}

/**
 * Returns the server's schema and the older schemas whose clients can still be served: those that the server ran with
 * in this data directory (`schemas/<hash>.json`), and those in `older`. Stores the current schema there.
 */
export function knownSchemas(
  dataDir: string,
  schema: Schema,
  older: readonly Schema[] = [],
): Map<string, SchemaView | null> {
  const directory = join(dataDir, 'schemas');
  mkdirSync(directory, { recursive: true });
  const remembered = readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => decodeSchema(readFileSync(join(directory, name), 'utf8')));
  const path = join(directory, `${schema.hash}.json`);
  writeFileSync(`${path}.new`, encodeSchema(schema));
  renameSync(`${path}.new`, path);
  return new Map([...schemaViews([...remembered, ...older], schema), [schema.hash, null]]);
}

/** Returns views for those of the older schemas whose clients a server with `schema` can serve. */
export function schemaViews(older: readonly Schema[], schema: Schema): Map<string, SchemaView> {
  const views = new Map<string, SchemaView>();
  for (const one of older) {
    const view = one.hash === schema.hash ? null : schemaView(roundTrip(one), roundTrip(schema));
    if (view !== null) views.set(one.hash, view);
  }
  return views;
}
