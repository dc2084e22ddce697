import { RockpoolError } from '@rockpool/shared';
import type { WriteOutcome } from '../../rpc/write-request.ts';
import type { Outbox } from '../changelog/outbox.ts';
import type { RejectedTable } from '../changelog/rejected-table.ts';
import type { Meta } from '../file/meta.ts';

export interface RetryParts {
  readonly rejected: RejectedTable;
  readonly outbox: Outbox;
  readonly meta: Meta;
  /** See retry-rejected.ts. */
  readonly retryIfUnchanged: (sequence: number) => WriteOutcome;
}

/**
 * Retries edits of documents that were rejected only because an earlier edit was (`document-gap`): each edit builds on
 * those before it. Edits that do not fit the current document, or would overwrite newer values, stay rejected. So do
 * those of an earlier principal. Returns the names of the tables touched.
 */
export function retryDependentEdits({ rejected, outbox, meta, retryIfUnchanged }: RetryParts): ReadonlySet<string> {
  const touched = new Set<string>();
  for (const sequence of rejected.rejectedWith('document-gap', outbox.lastAckedSequence())) {
    if (sequence < meta.firstOfPrincipal) continue;
    try {
      for (const table of retryIfUnchanged(sequence).touchedTables) touched.add(table);
    } catch (thrown) {
      if (!(thrown instanceof RockpoolError)) throw thrown;
    }
  }
  return touched;
}
