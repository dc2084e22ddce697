import { RockpoolError } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';

/**
 * Edits of a document count on from each other, so when one was rejected, those made after it are too, though nothing
 * is wrong with them. They are made once more in the document as it is now; what does not fit, or would write over
 * newer values, stays rejected with its reason. Returns the names of the tables touched.
 */
export function retryDependentEdits({
  rejected,
  outbox,
  retryIfUnchanged,
}: Pick<OpenDatabase, 'rejected' | 'outbox' | 'retryIfUnchanged'>): ReadonlySet<string> {
  const touched = new Set<string>();
  for (const sequence of rejected.rejectedWith('document-gap', outbox.lastAckedSequence())) {
    try {
      for (const table of retryIfUnchanged(sequence).touchedTables) touched.add(table);
    } catch (thrown) {
      if (!(thrown instanceof RockpoolError)) throw thrown;
    }
  }
  return touched;
}
