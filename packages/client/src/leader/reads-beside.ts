import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Reads } from '../rpc/reads.ts';
import type { OpenedDatabase } from './opened-database.ts';
import type { WriterTurns } from './writer-turns.ts';

/** Reads what is committed, also while a transaction is open on the writer's connection. `onProblem`: reading waits then, as there is no connection beside it. */
export function readsBeside(opened: Pick<OpenedDatabase<unknown>, 'reads' | 'readsBeside'>, turns: WriterTurns, onProblem: (error: RockpoolError) => void): Reads {
  async function reads(): Promise<Reads> {
    if (!turns.isHeld) return opened.reads;
    const beside = await opened.readsBeside?.().catch((thrown: unknown) => onProblem(toRockpoolError(thrown)));
    if (beside !== undefined) return beside;
    await new Promise<void>((resolve) => turns.take(resolve));
    return reads();
  }
  return {
    query: async (statement) => (await reads()).query(statement),
    queryAll: async (statements) => (await reads()).queryAll(statements),
    dependencies: async (statement) => (await reads()).dependencies(statement),
    whereIs: async (tableName, key) => (await reads()).whereIs(tableName, key),
    writeFates: async (requestIds) => (await reads()).writeFates(requestIds),
    // Needs no connection.
    backup: () => opened.reads.backup(),
    listParked: async () => (await reads()).listParked(),
  };
}
