import type { Schema } from '@rockpool/shared';
import type { PostgresSource } from '../postgres/shard.ts';
import { databaseProblems } from '../store/check-database.ts';
import { inspectDatabase } from '../store/inspect-database.ts';
import { PostgresAdministration } from '../store/postgres/administration.ts';
import { DatabaseMarked } from '../store/postgres/move-mark.ts';
import { exportFile, refuseOverwrite } from './export-file.ts';
import { namedEntry } from './named-entry.ts';
import { requireDatabase } from './require-database.ts';

interface Action {
  readonly databaseId: string;
  readonly file: string;
  /** For an export: the time of the exported state. Null exports the current state. */
  readonly atMs: number | null;
  readonly print: (line: string) => void;
}

export const POSTGRES_ACTIONS: Readonly<
  Record<string, (administration: PostgresAdministration, action: Action) => Promise<void>>
> = {
  list: async (administration, { print }) => {
    await administration.requireAll({ unlessLost: true });
    for (const [databaseId, shard] of await administration.placed())
      print(shard === null ? databaseId : `${databaseId}\t${shard}`);
  },
  inspect: async (administration, { databaseId, print }) =>
    print(JSON.stringify(await administration.withCopy(databaseId, inspectDatabase), null, 2)),
  export: async (administration, { databaseId, file, atMs, print }) => {
    refuseOverwrite(file);
    print(await administration.withCopy(databaseId, (path) => exportFile(path, file, databaseId, atMs)));
  },
  import: async (administration, { databaseId, file, print }) => {
    requireDatabase(file); // before anything is written
    await administration.import(databaseId, file);
    print(`imported ${file} as ${databaseId}`);
  },
  delete: async (administration, { databaseId, print }) => {
    await administration.delete(databaseId);
    print(`deleted ${databaseId}`);
  },
};

/** Runs an action of `databases` in PostgreSQL: one of POSTGRES_ACTIONS. */
export function runInPostgres(source: PostgresSource, action: string, request: Action): Promise<void> {
  return PostgresAdministration.use(source, async (administration) =>
    namedEntry(POSTGRES_ACTIONS, action)?.(administration, request),
  );
}

/**
 * Reports the problems of PostgreSQL and its databases for `doctor`. `schema` is the schema that servers will run with,
 * or null if unknown.
 */
export function examinePostgres(
  source: PostgresSource,
  schema: Schema | null,
  report: (subject: string, problems: readonly string[]) => void,
): Promise<void> {
  return PostgresAdministration.use(
    source,
    async (administration) => {
      await administration.requireAll({ unlessLost: true });
      for (const { shard, problems } of await administration.problems())
        report(shard === null ? 'PostgreSQL' : `shard ${shard}`, problems);
      for (const databaseId of await administration.list())
        report(`database ${databaseId}`, await problemsOf(administration, databaseId, schema));
    },
    { isReadOnly: true },
  );
}

async function problemsOf(
  administration: PostgresAdministration,
  databaseId: string,
  schema: Schema | null,
): Promise<readonly string[]> {
  try {
    return await administration.withCopy(databaseId, (path) => databaseProblems(path, databaseId, schema));
  } catch (error) {
    if (!(error instanceof DatabaseMarked)) throw error;
    if (error.mark.role === 'moved')
      return ['the database was moved to another shard: run doctor with the list of all shards (--shards FILE)'];
    return [`${String(error.fields['problem'])}: if no command does this now, run the command again`];
  }
}
