import { RockpoolError } from '@rockpool/shared';
import type { OpenDatabase } from '../database/open-database.ts';

/**
 * Retries edits of documents that were rejected only because an earlier edit was (`document-gap`): each edit builds on
 * those before it. Edits that do not fit the current document, or would overwrite newer values, stay rejected. Returns
 * the names of the tables touched.
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
