import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Reads } from '../../rpc/reads.ts';
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
  /** Calls `read` in a task in which no transaction is open; one may begin in the next task. */
  async function outsideTransactions<T>(read: (reads: Reads) => Promise<T>): Promise<T> {
    if (!writerQueue.isHeld) return read(opened.reads);
    const beside = await opened.readsBeside?.().catch((thrown: unknown) => onProblem(toRockpoolError(thrown)));
    if (beside !== undefined) return read(beside);
    return new Promise((resolve) => writerQueue.take(() => resolve(read(opened.reads))));
  }
  return {
    query: (statement) => outsideTransactions((reads) => reads.query(statement)),
    queryAll: (statements) => outsideTransactions((reads) => reads.queryAll(statements)),
    dependencies: (statement) => outsideTransactions((reads) => reads.dependencies(statement)),
    rowSyncState: (tableName, key) => outsideTransactions((reads) => reads.rowSyncState(tableName, key)),
    writeStates: (requestIds) => outsideTransactions((reads) => reads.writeStates(requestIds)),
    // Needs no connection.
    backup: () => opened.reads.backup(),
    listRejected: () => outsideTransactions((reads) => reads.listRejected()),
  };
}
