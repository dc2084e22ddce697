import { RockpoolError, toRockpoolError } from '@rockpool/shared';
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

/**
 * Converts any thrown value to the error that a session or a response receives. A failure of the disk, the file or the
 * store is converted by `storeFailure`, so that the client retries; anything else is a bug, and becomes `internal`.
 */
export function toStoreError(thrown: unknown): RockpoolError {
  const cause = thrown instanceof RockpoolError ? thrown.cause : thrown;
  return isOfTheSystem(cause) ? storeFailure(thrown) : toRockpoolError(thrown);
}

// SQL error, too large, constraint, type mismatch, parameter out of range. The other codes concern the file or the
// machine.
const SQLITE_STATEMENT_CODES: ReadonlySet<number> = new Set([1, 18, 19, 20, 25]);

/*
 * Data exceptions, constraints, limits of the program, a statement or a transaction that took too long, out of memory.
 * The other codes concern the connection, PostgreSQL as a whole, or other transactions.
 */
const POSTGRES_STATEMENT_CODES = /^(22|23|54|57014|25P03|25P04|53200)/;

/**
 * Whether a commit failed because of its content and may fail again, and not because of the disk, the file or the
 * connection to PostgreSQL.
 */
export function isOfTheCommit(thrown: unknown): boolean {
  const sqliteCode = sqliteCodeOf(thrown);
  if (sqliteCode !== null) return SQLITE_STATEMENT_CODES.has(sqliteCode & 0xff);
  if (thrown instanceof RockpoolError) {
    if (thrown.cause !== undefined) return isOfTheCommit(thrown.cause);
    return thrown.code === 'database-unavailable' && POSTGRES_STATEMENT_CODES.test(String(thrown.fields['systemCode']));
  }
  // An error without a code is a bug; errors of the system have one.
  return thrown instanceof Error && !('code' in thrown);
}

/** Whether SQLite failed for a reason other than the statement, or a system call failed. */
function isOfTheSystem(thrown: unknown): boolean {
  const sqliteCode = sqliteCodeOf(thrown);
  if (sqliteCode !== null) return !SQLITE_STATEMENT_CODES.has(sqliteCode & 0xff);
  return thrown instanceof Error && 'syscall' in thrown;
}

function isDiskFull(thrown: unknown): boolean {
  if (sqliteCodeOf(thrown) === SQLITE_FULL) return true;
  return (
    thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' && FULL_DISK_CODES.has(thrown.code)
  );
}
