import { RockpoolError } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { rowId, type PendingIndex } from './pending-index.ts';
import { withChange, type RowState } from './row-state.ts';
import type { RowWriters } from './row-writers.ts';
import { tryInSavepoint } from './try-in-savepoint.ts';
import { removeAllThenWrite } from './write-rows.ts';

/**
 * Reapplies pending changesets on top of the server's rows, one by one. Returns those that no longer fit, each with the
 * reason if it fitted before, and with null otherwise; and withdrawn ones, with null. On entry, `current` has the
 * server's state of every row that they touch; on return, it has their visible state.
 */
export function reapplyPending(
  {
    connection,
    writers,
    pending,
  }: { readonly connection: Connection; readonly writers: RowWriters; readonly pending: PendingIndex },
  sequences: readonly number[],
  current: Map<string, RowState>,
): Map<number, RockpoolError | null> {
  const masked = new Map<number, RockpoolError | null>();
  for (const sequence of sequences) {
    if (pending.withdrawn.has(sequence)) {
      masked.set(sequence, null);
      continue;
    }
    const written = tryInSavepoint(connection, () => {
      const writes = pending.rowsOf(sequence).map((ref) => {
        const writer = writers.of(ref.tableId);
        const before = current.get(rowId(ref)) as RowState;
        const change = pending.changeOf(ref, sequence);
        return {
          ref,
          writer,
          key: ref.key,
          before,
          after: change === undefined ? before : withChange(before, change, writer.columns),
        };
      });
      removeAllThenWrite(writes);
      return writes;
    });
    if (written instanceof RockpoolError) masked.set(sequence, pending.masked.has(sequence) ? null : written);
    else for (const { ref, after } of written) current.set(rowId(ref), after);
  }
  return masked;
}
