import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Everything of a server that must outlive it:
 * databases/db-<id>.sqlite   one file per database; beside it -wal and -shm (SQLite's log), -sums (page-sums.ts),
 *   -damaged (file-damage.ts)
 *   members.sqlite             who may do what, beyond what tokens say
 *   server.lock                held by the one process that runs here
 */

export function databasesDirectory(dataDir: string): string {
  const directory = join(dataDir, 'databases');
  mkdirSync(directory, { recursive: true });
  return directory;
}

export function membersPath(dataDir: string): string {
  return join(dataDir, 'members.sqlite');
}

export function databasePath(dataDir: string, databaseId: string): string {
  return join(databasesDirectory(dataDir), databaseFileName(databaseId));
}

/** Capitals are escaped: on file systems that ignore case `A` and `a` would be one file, that is, one database. */
export function databaseFileName(databaseId: string): string {
  return `db-${databaseId.replaceAll(/[A-Z]/g, (letter) => `~${letter.toLowerCase()}`)}.sqlite`;
}

/** Null: this is not the file of a database. */
export function databaseIdOfFile(fileName: string): string | null {
  const name = /^db-(.+)\.sqlite$/.exec(fileName)?.[1];
  return name === undefined ? null : unescaped(name);
}

function unescaped(name: string): string {
  return name.replaceAll(/~([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The ids of all databases that have a file, sorted. `withMissing`: those too whose file is missing while its checksums
 * are there.
 */
export function databaseIds(
  dataDir: string,
  { withMissing = false }: { readonly withMissing?: boolean } = {},
): string[] {
  const directory = join(dataDir, 'databases');
  if (!existsSync(directory)) return [];
  const pattern = withMissing ? /^db-(.+)\.sqlite(?:-sums)?$/ : /^db-(.+)\.sqlite$/;
  const names = new Set(readdirSync(directory).flatMap((file) => pattern.exec(file)?.[1] ?? []));
  return [...names].map(unescaped).sort();
}

/**
 * Removes a database and everything beside it. The file goes first: what is left of a removal that was cut off says
 * that it is missing.
 */
export function removeDatabaseFiles(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-damaged', '-sums']) rmSync(path + suffix, { force: true });
}

/** Moves the file and log of a database out of the way, and returns the new path; null where there is no file. */
export function keepDatabaseFiles(path: string): string | null {
  if (!existsSync(path)) return null;
  let number = 1;
  while (existsSync(`${path}.replaced-${number}`)) number++;
  const kept = `${path}.replaced-${number}`;
  renameSync(path, kept);
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${kept}-wal`);
  return kept;
}
