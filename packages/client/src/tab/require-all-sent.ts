import { RockpoolError } from '@rockpool/shared';
import type { Remote } from 'comlink';
import { decodeRows } from '../rpc/rows-transfer.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { WorkerApi } from '../rpc/worker-api.ts';

/** Counts the pending changesets, and the rejected ones that the user has not decided. */
const UNSENT: SqlStatement = {
  sql: `SELECT
      (SELECT count(*) FROM rockpool_changelog WHERE sequence > coalesce((SELECT max(up_to) FROM rockpool_decided), 0)) AS pendingCount,
      (SELECT count(*) FROM rockpool_parked WHERE closed = 0) AS rejectedCount`,
  params: [],
};

/**
 * The same time for which a follower's write waits for its leader. A write that the leader has begun may take longer.
 */
const SETTLED_WITHIN_MS = 10_000;

/** The part of a session that this check uses. */
export interface WritingSession {
  leaving: number;
  readonly settled: Promise<unknown>;
  /** Writes what open documents have not written yet. Rejects if it cannot be written. */
  readonly saveDocuments?: () => Promise<unknown>;
  call<T>(run: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T>;
}

/**
 * Saves open documents, refuses further writes of this tab, waits for those under way, and throws `changes-unsent` with
 * the counts unless both are zero and no write is under way any more. Writes are accepted again only if it throws: a
 * later write would be deleted with the database.
 */
export async function requireAllSent(session: WritingSession): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const overdue = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, SETTLED_WITHIN_MS, true)));
  try {
    if (session.saveDocuments !== undefined) await Promise.race([session.saveDocuments(), overdue]);
    await refusingWrites(session, overdue);
  } finally {
    clearTimeout(timer);
  }
}

/** `overdue` resolves with true when the writes under way take too long. */
async function refusingWrites(session: WritingSession, overdue: Promise<boolean>): Promise<void> {
  session.leaving++;
  try {
    const isWriting = await Promise.race([session.settled.then(() => false), overdue]);
    const [counts] = decodeRows(await session.call((worker) => worker.query(UNSENT)));
    const pendingCount = Number(counts?.['pendingCount']);
    const rejectedCount = Number(counts?.['rejectedCount']);
    if (isWriting || pendingCount > 0 || rejectedCount > 0)
      throw new RockpoolError('changes-unsent', { pendingCount, rejectedCount, ...(isWriting && { isWriting }) });
  } catch (thrown) {
    session.leaving--;
    throw thrown;
  }
}
