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
 * The maximum number of edits that are retried again with each delivery after an attempt has failed. Each costs a
 * transaction, and a device may have hundreds that never fit.
 */
const RETRIED_AGAIN = 20;

interface Attempts {
  /** The edits whose retry has failed, by sequence, the last one tried last. */
  readonly failed: Set<number>;
  /** The number of rejected changesets afterwards. */
  readonly count: number;
}

const attemptsOf = new WeakMap<RejectedTable, Attempts>();

/**
 * Retries edits of documents that were rejected only because an earlier edit was (`document-gap`): each edit builds on
 * those before it. Edits that do not fit the current document, or would overwrite newer values, stay rejected. So do
 * those of an earlier principal. Returns the names of the tables touched.
 */
export function retryDependentEdits({ rejected, outbox, meta, retryIfUnchanged }: RetryParts): ReadonlySet<string> {
  const touched = new Set<string>();
  const before = attemptsOf.get(rejected);
  // If the number has changed, the user may have retried the edit on which all others build.
  const failed = before?.count === rejected.count() ? before.failed : new Set<number>();
  for (const sequence of [...failed].slice(0, RETRIED_AGAIN)) failed.delete(sequence);
  for (const sequence of rejected.rejectedWith('document-gap', outbox.lastAckedSequence())) {
    if (sequence < meta.firstOfPrincipal || failed.has(sequence)) continue;
    try {
      for (const table of retryIfUnchanged(sequence).touchedTables) touched.add(table);
    } catch (thrown) {
      if (!(thrown instanceof RockpoolError)) throw thrown;
      failed.add(sequence);
    }
  }
  attemptsOf.set(rejected, { failed, count: rejected.count() });
  return touched;
}
