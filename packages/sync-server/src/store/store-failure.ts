import { RockpoolError } from '@rockpool/shared';
import { sqliteDamage } from './file-damage.ts';
import { sqliteCodeOf } from '../sqlite/sqlite-file.ts';

const SQLITE_FULL = 13;
const FULL_DISK_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Converts a failed read or write to the error that clients and logs see: `server-disk-full`, `database-damaged` or,
 * for any other cause, `database-unavailable`. Returns a RockpoolError unchanged, unless it is a `database-unavailable`
 * whose cause names one of the first two.
 */
export function storeFailure(thrown: unknown): RockpoolError {
  if (thrown instanceof RockpoolError && !(thrown.code === 'database-unavailable' && thrown.cause !== undefined))
    return thrown;
  const cause = thrown instanceof RockpoolError ? thrown.cause : thrown;
  if (isDiskFull(cause)) return new RockpoolError('server-disk-full', {}, { cause });
  return (
    sqliteDamage(cause) ??
    (thrown instanceof RockpoolError ? thrown : new RockpoolError('database-unavailable', {}, { cause }))
  );
}

function isDiskFull(thrown: unknown): boolean {
  if (sqliteCodeOf(thrown) === SQLITE_FULL) return true;
  return (
    thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' && FULL_DISK_CODES.has(thrown.code)
  );
}
