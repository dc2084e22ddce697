import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';

/** Holds what a restore is fetching. It is removed at the end. */
export function restoringFolder(dataDir: string): string {
  return join(dataDir, 'restoring');
}

/**
 * Throws `database-unavailable` if a restore into the directory was interrupted: a server would create empty databases in
 * place of those that are missing.
 */
export function requireFinishedRestore(dataDir: string): void {
  if (existsSync(restoringFolder(dataDir)))
    throw new RockpoolError('database-unavailable', {
      problem: `a restore into this data directory is unfinished: run it again, or remove ${restoringFolder(dataDir)}`,
    });
}
