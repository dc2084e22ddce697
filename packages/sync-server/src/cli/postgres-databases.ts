import { existsSync } from 'node:fs';
import type { Schema } from '@rockpool/shared';
import { databaseProblems } from '../store/check-database.ts';
import { copyDatabase } from '../store/copy-database.ts';
import { inspectDatabase } from '../store/inspect-database.ts';
import { PostgresAdministration } from '../store/postgres/administration.ts';
import { failWith } from './read-values.ts';

interface Action {
  readonly databaseId: string;
  readonly file: string;
  readonly print: (line: string) => void;
}

const ACTIONS: Readonly<Record<string, (administration: PostgresAdministration, action: Action) => Promise<void>>> = {
  list: async (administration, { print }) => {
    for (const databaseId of await administration.list()) print(databaseId);
  },
  inspect: async (administration, { databaseId, print }) =>
    print(JSON.stringify(await administration.withCopy(databaseId, inspectDatabase), null, 2)),
  export: async (administration, { databaseId, file, print }) => {
    if (existsSync(file)) failWith([`${file} already exists`]);
    await administration.withCopy(databaseId, (path) => copyDatabase(path, file));
    print(`exported ${databaseId} to ${file}`);
  },
  import: async (administration, { databaseId, file, print }) => {
    inspectDatabase(file); // throws for what is no database of ours, before anything is written
    await administration.import(databaseId, file);
    print(`imported ${file} as ${databaseId}`);
  },
  delete: async (administration, { databaseId, print }) => {
    await administration.delete(databaseId);
    print(`deleted ${databaseId}`);
  },
};

/** The actions of `databases`, on those in PostgreSQL. */
export function runInPostgres(url: string, action: string, request: Action): Promise<void> {
  return PostgresAdministration.use(url, async (administration) => ACTIONS[action]?.(administration, request));
}

/** What `doctor` says of PostgreSQL. `schema`: the one that servers are to run with; null: not known. */
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
