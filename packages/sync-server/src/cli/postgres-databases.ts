import { existsSync } from 'node:fs';
import type { Schema } from '@rockpool/shared';
import { databaseProblems } from '../store/check-database.ts';
import { copyDatabase } from '../store/copy-database.ts';
import { inspectDatabase } from '../store/inspect-database.ts';
import { PostgresAdministration } from '../store/postgres/administration.ts';
import { namedEntry } from './named-entry.ts';
import { throwIfProblems } from './read-values.ts';

interface Action {
  readonly databaseId: string;
  readonly file: string;
  readonly print: (line: string) => void;
}

export const POSTGRES_ACTIONS: Readonly<
  Record<string, (administration: PostgresAdministration, action: Action) => Promise<void>>
> = {
  list: async (administration, { print }) => {
    for (const databaseId of await administration.list()) print(databaseId);
  },
  inspect: async (administration, { databaseId, print }) =>
    print(JSON.stringify(await administration.withCopy(databaseId, inspectDatabase), null, 2)),
  export: async (administration, { databaseId, file, print }) => {
    if (existsSync(file)) throwIfProblems([`${file} already exists`]);
    await administration.withCopy(databaseId, (path) => copyDatabase(path, file));
    print(`exported ${databaseId} to ${file}`);
  },
  import: async (administration, { databaseId, file, print }) => {
    inspectDatabase(file); // throws if the file is not a Rockpool database, before anything is written
    await administration.import(databaseId, file);
    print(`imported ${file} as ${databaseId}`);
  },
  delete: async (administration, { databaseId, print }) => {
    await administration.delete(databaseId);
    print(`deleted ${databaseId}`);
  },
};

/** Runs an action of `databases` in PostgreSQL: one of POSTGRES_ACTIONS. */
export function runInPostgres(url: string, action: string, request: Action): Promise<void> {
  return PostgresAdministration.use(url, async (administration) =>
    namedEntry(POSTGRES_ACTIONS, action)?.(administration, request),
  );
}

/**
 * Reports the problems of PostgreSQL and its databases for `doctor`. `schema` is the schema that servers will run with,
 * or null if unknown.
 */
export function examinePostgres(
  url: string,
  schema: Schema | null,
  report: (subject: string, problems: readonly string[]) => void,
): Promise<void> {
  return PostgresAdministration.use(url, async (administration) => {
    report('PostgreSQL', await administration.problems());
    for (const databaseId of await administration.list()) {
      report(
        `database ${databaseId}`,
        await administration.withCopy(databaseId, (path) => databaseProblems(path, databaseId, schema)),
      );
    }
  });
}
