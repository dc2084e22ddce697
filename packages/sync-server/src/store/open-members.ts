import { RockpoolError } from '@rockpool/shared';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { membersPath } from './data-directory.ts';
import { sqliteDamage } from './file-damage.ts';

/** Opens the members of a data directory. Throws `config-invalid` with the name of the file if it is damaged. */
export function openMembers(dataDir: string): SqliteMembers {
  const path = membersPath(dataDir);
  try {
    return new SqliteMembers(path);
  } catch (error) {
    if (sqliteDamage(error) === null) throw error;
    const problems = `${path} is damaged: put a copy from a backup in its place, and remove ${path}-wal and ${path}-shm`;
    throw new RockpoolError('config-invalid', { count: 1, problems }, { cause: error });
  }
}
