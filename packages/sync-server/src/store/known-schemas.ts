import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeSchema, encodeOutline, encodeSchema, RockpoolError, type Schema } from '@rockpool/shared';
import { schemaView, type SchemaView } from './schema-view.ts';
import { writeDurably } from './write-durably.ts';

/** The schemas that clients may have: those of the server, of its databases, and older ones. */
export class KnownSchemas {
  private readonly byHash = new Map<string, Schema>();
  // Views by the hash of the client's schema and that of the database's schema.
  private readonly views = new Map<string, SchemaView>();
  // Outlines by the hash of the database's schema. All refusals share one text.
  private readonly outlines = new Map<string, string>();

  constructor(schemas: Iterable<Schema> = []) {
    this.add(schemas);
  }

  add(schemas: Iterable<Schema>): void {
    for (const schema of schemas) if (!this.byHash.has(schema.hash)) this.byHash.set(schema.hash, schema);
  }

  /**
   * Returns the part of a database that a client with a schema of this hash knows; null if it has the schema of the
   * database. Throws `schema-mismatch` if the client cannot be served.
   */
  viewOf(clientHash: string, database: Schema): SchemaView | null {
    if (clientHash === database.hash) return null;
    const client = this.byHash.get(clientHash);
    const key = `${clientHash} ${database.hash}`;
    const view = this.views.get(key) ?? (client === undefined ? null : schemaView(client, database));
    if (view === null) throw new RockpoolError('schema-mismatch', { outline: this.outlineOf(database) });
    this.views.set(key, view);
    return view;
  }

  private outlineOf(database: Schema): string {
    const outline = this.outlines.get(database.hash) ?? encodeOutline(database);
    this.outlines.set(database.hash, outline);
    return outline;
  }
}

/**
 * Returns the schemas that servers ran with in this data directory (`schemas/<hash>.json`). `onUnreadable` receives the
 * name of a file that is damaged or that only a newer server can read: clients with its schema cannot be served.
 */
export function rememberedSchemas(dataDir: string, onUnreadable: (name: string, error: unknown) => void): Schema[] {
  return schemaFileNames(dataDir).flatMap((name) => {
    try {
      return decodeSchema(readFileSync(join(schemasDirectory(dataDir), name), 'utf8'));
    } catch (error) {
      onUnreadable(name, error);
      return [];
    }
  });
}

/** The names of the files in `schemas/`. A file never changes, because its name is its hash. */
export function schemaFileNames(dataDir: string): string[] {
  const directory = schemasDirectory(dataDir);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).filter((name) => name.endsWith('.json'));
}

/** Stores a schema in the data directory. */
export function rememberSchema(dataDir: string, schema: Schema): void {
  writeDurably(join(schemasDirectory(dataDir), `${schema.hash}.json`), encodeSchema(schema));
}

export function schemasDirectory(dataDir: string): string {
  return join(dataDir, 'schemas');
}
