import { RockpoolError, type Hello } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import { identityOf, identityStart } from '../store/identity.ts';

/**
 * Keeps rows of one database out of another: throws `database-mismatch` unless the client's local database belongs to
 * this one.
 *
 * A local database that has no database identity yet proves that it belongs to this log by its log epoch, which is
 * random and secret, or by the log hash at its cursor. One that was never welcomed holds no synced rows.
 */
export function requireSameDatabase(
  { sql, logEpoch, log }: DatabaseFile,
  hello: Pick<Hello, 'databaseIdentity' | 'logEpoch' | 'cursor' | 'cursorHash'>,
): void {
  const { databaseIdentity, cursor, cursorHash } = hello;
  if (databaseIdentity !== null) {
    if (Buffer.compare(databaseIdentity, identityOf(sql)) === 0) return;
    throw new RockpoolError('database-mismatch', {
      problem: 'the local database belongs to a different server database',
    });
  }
  const isNew = hello.logEpoch === null && cursor === 0;
  if (isNew || (hello.logEpoch !== null && logEpoch.isCurrentOrEarlier(hello.logEpoch))) return;
  const isInLog =
    cursor > identityStart(sql) && cursor <= log.watermark && Buffer.compare(cursorHash, log.hashAt(cursor)) === 0;
  if (!isInLog)
    throw new RockpoolError('database-mismatch', {
      problem: 'the local database predates database identities and was never synced with this log',
    });
}
