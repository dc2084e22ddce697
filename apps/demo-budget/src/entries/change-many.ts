import type { SqlStatement } from '@rockpool/client';
import type { Writer } from '../writer.ts';

export interface Progress {
  readonly doneCount: number;
  readonly totalCount: number;
}

export interface LongWork {
  readonly onProgress: (progress: Progress) => void;
  /** Stops the work; none of it is saved. */
  readonly signal: AbortSignal;
}

/** Changes entries by id. If there are several statements, the last one counts the entries. */
export type ChangeOfEntries = (ids: readonly string[]) => SqlStatement | readonly SqlStatement[];

/** About 30 ms of work, so that the progress is updated and a stop takes effect at once. */
const idsPerStatement = 2_000;

/** The longest time that a transaction may take. */
const timeoutMs = 8_000;

/**
 * Changes any number of entries in one transaction, so that one undo reverts it. `selected` reads their ids inside the
 * transaction. Resolves to the number changed. Rejects with the reason of the signal if the user stops it.
 */
export async function changeMany(
  writer: Pick<Writer, 'transaction'>,
  selected: SqlStatement,
  change: ChangeOfEntries,
  { onProgress, signal }: LongWork,
): Promise<number> {
  return await writer.transaction(
    async (tx) => {
      const ids = (await tx.query<{ readonly id: string }>(selected)).map(({ id }) => id);
      let changedCount = 0;
      for (let from = 0; from < ids.length; from += idsPerStatement) {
        onProgress({ doneCount: from, totalCount: ids.length });
        const statements = [change(ids.slice(from, from + idsPerStatement))].flat();
        let changes = 0;
        for (const statement of statements) ({ changes } = await tx.execute(statement));
        changedCount += changes;
        signal.throwIfAborted();
      }
      onProgress({ doneCount: ids.length, totalCount: ids.length });
      return changedCount;
    },
    { timeoutMs, signal },
  );
}
