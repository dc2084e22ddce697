import { RockpoolError } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';

/**
 * Edits of a document count on from each other, so when one was rejected, those made after it are too, though nothing is wrong with them. They
 * are made once more in the document as it is now; what does not fit, or would write over newer values,
 * stays parked with its reason. Returns the names of the tables touched.
 */
export function makeDependentEditsAnew({ parked, outbox, retryUntouched }: Pick<OpenDatabase, 'parked' | 'outbox' | 'retryUntouched'>): ReadonlySet<string> {
  const touched = new Set<string>();
  for (const sequence of parked.rejectedWith('document-gap', outbox.decidedUpTo())) {
    try {
      for (const table of retryUntouched(sequence).touchedTables) touched.add(table);
    } catch (thrown) {
      if (!(thrown instanceof RockpoolError)) throw thrown;
    }
  }
  return touched;
}
