import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Everything of a server that must outlive it:
 *   databases/db-<id>.sqlite   one file per database
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

/** The ids of all databases that have a file, sorted. */
export function databaseIds(dataDir: string): string[] {
  const directory = join(dataDir, 'databases');
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).map((file) => /^db-(.+)\.sqlite$/.exec(file)?.[1]);
  return names.flatMap((name) => (name === undefined ? [] : [name.replaceAll(/~([a-z])/g, (_, letter: string) => letter.toUpperCase())])).sort();
}
