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

/** The edits whose retry has failed, by sequence, the last one tried last. */
const failedBefore = new WeakMap<RejectedTable, Set<number>>();

/**
 * Retries edits of documents that were rejected only because an earlier edit was (`document-gap`): each edit builds on
 * those before it. Edits that do not fit the current document, or would overwrite newer values, stay rejected. So do
 * those of an earlier principal. Returns the names of the tables touched.
 */
export function retryDependentEdits({ rejected, outbox, meta, retryIfUnchanged }: RetryParts): ReadonlySet<string> {
  const touched = new Set<string>();
  const waiting = rejected
    .rejectedWith('document-gap', outbox.lastAckedSequence())
    .filter((sequence) => sequence >= meta.firstOfPrincipal);
  const failed = failedBefore.get(rejected) ?? new Set();
  failedBefore.set(rejected, failed);
  const again = new Set([...failed].filter((sequence) => waiting.includes(sequence)).slice(0, RETRIED_AGAIN));
  for (const sequence of waiting) {
    if (failed.has(sequence) && !again.has(sequence)) continue;
    failed.delete(sequence);
    try {
      for (const table of retryIfUnchanged(sequence).touchedTables) touched.add(table);
    } catch (thrown) {
      if (!(thrown instanceof RockpoolError)) throw thrown;
      failed.add(sequence);
    }
  }
  return touched;
}
