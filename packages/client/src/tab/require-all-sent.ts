import { RockpoolError } from '@rockpool/shared';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlRow } from '../rpc/sql-value.ts';

/** Counts the pending changesets, and the rejected ones that the user has not decided. */
const UNSENT: SqlStatement = {
  sql: `SELECT
      (SELECT count(*) FROM rockpool_changelog WHERE sequence > coalesce((SELECT max(up_to) FROM rockpool_decided), 0)) AS pendingCount,
      (SELECT count(*) FROM rockpool_parked WHERE closed = 0) AS rejectedCount`,
  params: [],
};

/** Throws `changes-unsent` with the counts unless both are zero. */
export async function requireAllSent(query: (statement: SqlStatement) => Promise<readonly SqlRow[]>): Promise<void> {
  const [counts] = await query(UNSENT);
  const pendingCount = Number(counts?.['pendingCount']);
  const rejectedCount = Number(counts?.['rejectedCount']);
  if (pendingCount > 0 || rejectedCount > 0) throw new RockpoolError('changes-unsent', { pendingCount, rejectedCount });
}
