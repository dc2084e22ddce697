import { statSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { sqliteDamage } from '../store/file-damage.ts';
import { inspectDatabase } from '../store/inspect-database.ts';
import { throwIfProblems } from './read-values.ts';

/** Throws `config-invalid` if a file of the operator is missing, or is not a database. */
export function requireDatabase(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) throwIfProblems([`${path} cannot be read`]);
  try {
    inspectDatabase(path);
  } catch (error) {
    const code = (error instanceof RockpoolError ? error : sqliteDamage(error))?.code;
    const problem = `${path} is not a Rockpool database that this version can read`;
    throw new RockpoolError(
      'config-invalid',
      { count: 1, problems: code === undefined ? problem : `${problem}: ${code}` },
      { cause: error },
    );
  }
}
