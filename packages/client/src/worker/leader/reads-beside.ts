import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Reads } from '../../rpc/reads.ts';
import type { OpenedDatabase } from './opened-database.ts';
import type { WriterQueue } from './writer-queue.ts';

/**
 * Reads committed data, also while a transaction is open on the writer's connection. `onProblem`: no second connection
 * could be opened, so reads wait.
 */
export function readsBeside(
  opened: Pick<OpenedDatabase<unknown>, 'reads' | 'readsBeside'>,
  writerQueue: WriterQueue,
  onProblem: (error: RockpoolError) => void,
): Reads {
  async function reads(): Promise<Reads> {
    if (!writerQueue.isHeld) return opened.reads;
    const beside = await opened.readsBeside?.().catch((thrown: unknown) => onProblem(toRockpoolError(thrown)));
    if (beside !== undefined) return beside;
    await new Promise<void>((resolve) => writerQueue.take(resolve));
    return reads();
  }
  return {
    query: async (statement) => (await reads()).query(statement),
    queryAll: async (statements) => (await reads()).queryAll(statements),
    dependencies: async (statement) => (await reads()).dependencies(statement),
    rowSyncState: async (tableName, key) => (await reads()).rowSyncState(tableName, key),
    writeStates: async (requestIds) => (await reads()).writeStates(requestIds),
    // Needs no connection.
    backup: () => opened.reads.backup(),
    listRejected: async () => (await reads()).listRejected(),
  };
}
