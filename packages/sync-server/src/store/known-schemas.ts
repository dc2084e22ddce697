import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeSchema, encodeSchema, type Schema } from '@rockpool/shared';
import { schemaView, type SchemaView } from './schema-view.ts';

/** By hash: the schemas whose clients are served. Null: the server's own, with nothing to leave out. */
export type KnownSchemas = ReadonlyMap<string, SchemaView | null>;

/** Whatever it was built by: with the members of its rules in the order of the file. */
function asFile(schema: Schema): Schema {
  return decodeSchema(encodeSchema(schema));
}

/**
 * The server's schema, and those that it ran with before in this data directory (`schemas/<hash>.json`) or that are
 * named to it, as far as their clients can go on. Remembers the present one.
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

/** Of those whose clients can go on with a server of `schema`. */
export function schemaViews(older: readonly Schema[], schema: Schema): Map<string, SchemaView> {
  const views = new Map<string, SchemaView>();
  for (const one of older) {
    const view = one.hash === schema.hash ? null : schemaView(asFile(one), asFile(schema));
    if (view !== null) views.set(one.hash, view);
  }
  return views;
}
