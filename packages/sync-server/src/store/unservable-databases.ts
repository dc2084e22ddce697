import { existsSync, statSync } from 'node:fs';
import { decodeSchema, RockpoolError, type Schema } from '@rockpool/shared';
import { requireDocuments } from '../documents/require-documents.ts';
import { STORAGE_FORMAT } from '../sqlite/internal-tables.ts';
import { readMeta } from '../sqlite/meta.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { databaseIds, databasePath } from './data-directory.ts';
import { openedSchema } from './schema-window.ts';

/**
 * The maximum number of files that are read at each start, those written last first. After a rollback to an older
 * schema or version of the server, they are the ones that the newer server has written.
 */
const SAMPLE_SIZE = 20;

/** The databases that this server cannot open, as found at its start. */
export class UnservableDatabases {
  private readonly dataDir: string;
  private readonly own: Schema;
  private readonly ids = new Set<string>();

  constructor(dataDir: string, own: Schema) {
    this.dataDir = dataDir;
    this.own = own;
  }

  get count(): number {
    return this.ids.size;
  }

  /** Reads the files. Returns the reason of each. */
  find(): Map<string, RockpoolError> {
    const found = unservableDatabases(this.dataDir, this.own);
    for (const databaseId of found.keys()) this.ids.add(databaseId);
    return found;
  }

  /** Call after an operator may have deleted or replaced a database. */
  check(databaseId: string): void {
    if (!this.ids.has(databaseId)) return;
    const path = databasePath(this.dataDir, databaseId);
    if (!existsSync(path) || problemOf(path, this.own) === null) this.ids.delete(databaseId);
  }
}

/**
 * Returns the databases of a data directory that a server with this schema cannot open, with the reason of each. Reads
 * all files only if one of those that were written last cannot be opened, and looks for values that are not documents
 * only in those. Omits damaged files.
 */
function unservableDatabases(dataDir: string, own: Schema): Map<string, RockpoolError> {
  const databases = databaseIds(dataDir).map((databaseId) => ({ databaseId, path: databasePath(dataDir, databaseId) }));
  const sample = databases
    .map((database) => ({ ...database, writtenMs: writtenMs(database.path) }))
    .sort((a, b) => b.writtenMs - a.writtenMs)
    .slice(0, SAMPLE_SIZE);
  const sampled = new Map(sample.map(({ databaseId, path }) => [databaseId, problemOf(path, own)]));
  if ([...sampled.values()].every((problem) => problem === null)) return new Map();
  return new Map(
    databases.flatMap(({ databaseId, path }) => {
      // Reading the documents of all databases could take minutes.
      const known = sampled.get(databaseId);
      const problem = known === undefined ? problemOf(path, own, { readsDocuments: false }) : known;
      return problem === null ? [] : [[databaseId, problem] as const];
    }),
  );
}

/** When the file or its write-ahead log was last written. */
function writtenMs(path: string): number {
  return Math.max(...[path, `${path}-wal`].map((one) => statSync(one, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

function problemOf(path: string, own: Schema, { readsDocuments } = { readsDocuments: true }): RockpoolError | null {
  let sql: SqliteFile | null = null;
  try {
    sql = new SqliteFile(path, { readOnly: true });
    if (Number(readMeta(sql, 'storage_format')) > STORAGE_FORMAT)
      throw new RockpoolError('database-unavailable', {
        problem: 'the file has an unknown storage format',
        supported: STORAGE_FORMAT,
      });
    const stored = decodeSchema(readMeta(sql, 'schema') as string);
    if (openedSchema(stored, own).schema === own && readsDocuments) requireDocuments(sql, stored, own);
    return null;
  } catch (error) {
    // Opening the file reports any other error.
    return error instanceof RockpoolError ? error : null;
  } finally {
    sql?.close();
  }
}
