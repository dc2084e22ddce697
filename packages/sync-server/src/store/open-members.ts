import { existsSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { databaseIds, membersPath } from './data-directory.ts';
import { sqliteDamage } from './file-damage.ts';
import { schemaFileNames } from './known-schemas.ts';

/** Opens the members of a data directory. Throws `config-invalid` with the name of the file if it is damaged. */
export function openMembers(dataDir: string): SqliteMembers {
  const path = membersPath(dataDir);
  try {
    return new SqliteMembers(path);
  } catch (error) {
    if (sqliteDamage(error) === null) throw error;
    throw invalid(
      `${path} is damaged: put a copy from a backup in its place, and remove ${path}-wal and ${path}-shm`,
      error,
    );
  }
}

/**
 * Throws `config-invalid` if the members of the directory were lost: in a new file nobody is revoked, and revoked
 * members would have access again with a token that is still valid.
 */
export function requireMembers(dataDir: string): void {
  const problem = lostMembersProblem(dataDir);
  if (problem !== null) throw invalid(problem);
}

/**
 * Returns the problem of a directory that has databases, but not the members that its server had, or null. A server
 * stores its schema when it starts, so without one only a command has put the databases there.
 */
export function lostMembersProblem(dataDir: string): string | null {
  const path = membersPath(dataDir);
  if (existsSync(path) || schemaFileNames(dataDir).length === 0) return null;
  if (databaseIds(dataDir, { withMissing: true }).length === 0) return null;
  return `${path} is missing, and no server starts without it: put a copy from a backup in its place. ${EMPTY_MEMBERS}`;
}

/** What an operator without a copy of the members can do. */
export const EMPTY_MEMBERS =
  'An empty file there stands for no members: nobody has a stored role, and revoked members with a valid token have access again';

function invalid(problems: string, cause?: unknown): RockpoolError {
  return new RockpoolError('config-invalid', { count: 1, problems }, cause === undefined ? {} : { cause });
}
