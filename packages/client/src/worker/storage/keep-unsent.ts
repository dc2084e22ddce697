import { RockpoolError, type cellValuesEqual } from '@rockpool/shared';
import { importUnsent, type UnsentCode } from '../changelog/unsent.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import type { OpenedDatabase } from '../leader/opened-database.ts';
import type { QuarantinedDatabase } from './quarantine.ts';

/** Code of the worker's main script; see RehearsedCode. */
export interface KeepUnsentCode extends UnsentCode {
  readonly cellValuesEqual: typeof cellValuesEqual;
}

/** The error that the app receives. `rejected`: the number of unsent changesets that were stored. */
export function quarantineNotice({ keptAs, unsent }: QuarantinedDatabase, rejected: number): RockpoolError {
  return new RockpoolError('storage-corrupt', {
    keptAs,
    rejected,
    isComplete: unsent.isComplete && rejected === unsent.changesets.length,
  });
}

/**
 * Stores the unsent changesets as rejected ones. Returns how many were stored: all of them, or 0 if they cannot be
 * stored or belong to a different server database. The quarantined file keeps them too.
 */
export async function keepUnsentAsRejected(
  { database, committed, flushed }: OpenedDatabase<OpenDatabase>,
  quarantined: QuarantinedDatabase,
  code: KeepUnsentCode,
): Promise<number> {
  const { unsent, databaseIdentity } = quarantined;
  const { meta } = database;
  try {
    // A new database that was just filled from a server may belong to a different server database with the same name.
    // Writes for the old one then stay in its file.
    if (
      databaseIdentity !== null &&
      meta.databaseIdentity !== null &&
      !code.cellValuesEqual(databaseIdentity, meta.databaseIdentity)
    )
      return 0;
    if (databaseIdentity !== null) meta.set('database_identity', databaseIdentity);
    importUnsent(
      database.connection,
      database.rejected,
      unsent,
      quarantineNotice(quarantined, unsent.changesets.length).toData(),
      Date.now(),
      code,
    );
    await committed?.();
  } catch {
    return 0;
  }
  // The changesets count as stored even if the flush fails; they are flushed as soon as possible.
  await flushed?.().catch(() => undefined);
  return unsent.changesets.length;
}
