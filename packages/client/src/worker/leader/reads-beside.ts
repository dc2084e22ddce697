import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Reads } from '../../rpc/reads.ts';
import type { ReadWork } from './channel-message.ts';
import { callReads, forwardedReads } from './forwarded-reads.ts';
import type { OpenedDatabase } from './opened-database.ts';
import type { WriterQueue } from './writer-queue.ts';

/**
 * Reads committed data even while a transaction is open on the writer's connection. `onProblem`: no second connection
 * could be opened, so reads wait.
 */
export function readsBeside(
  opened: Pick<OpenedDatabase<unknown>, 'reads' | 'readsBeside'>,
  writerQueue: WriterQueue,
  onProblem: (error: RockpoolError) => void,
): Reads {
  /** Calls in a task in which no transaction is open; one may begin in the next task. */
  async function outsideTransactions(call: ReadWork): Promise<unknown> {
    if (!writerQueue.isHeld) return callReads(opened.reads, call);
    const beside = await opened.readsBeside?.().catch((thrown: unknown) => onProblem(toRockpoolError(thrown)));
    if (beside !== undefined) return callReads(beside, call);
    return new Promise((resolve) => writerQueue.take(() => resolve(callReads(opened.reads, call))));
  }
  return {
    ...forwardedReads(outsideTransactions),
    // Needs no connection.
    backup: () => opened.reads.backup(),
  };
}
