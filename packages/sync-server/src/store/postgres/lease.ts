import { type Connection, NAMESPACE } from '../../postgres/connection.ts';

/** Long enough for the round trips of a commit; other instances wait this long if the holder dies. */
const SHORTEST_MS = 2_000;
const LONGEST_MS = 120_000;

/** A lease lasts this many times as long as the last decision, so that the next one fits even on a busy machine. */
const DECISIONS = 4;

/** Whether an instance other than `$2` holds an unexpired lease of the database. */
export const IS_LEASED_SQL = `(leased_until > clock_timestamp() AND leased_by IS DISTINCT FROM $2)`;

/**
 * Reserves the next commit of a database for this instance. `lastDecisionMs` is how long its last decision took.
 *
 * The row is locked already, so the statement begins when the lease does. Citus takes no `clock_timestamp()` in an
 * UPDATE, because it is volatile.
 */
export async function takeLease(
  connection: Connection,
  databaseId: string,
  instanceId: string,
  lastDecisionMs: number,
): Promise<void> {
  const durationMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, DECISIONS * lastDecisionMs));
  await connection.query(
    `UPDATE ${NAMESPACE}.rockpool_database SET leased_by = $2, leased_until = statement_timestamp() + $3::float8 * interval '1 ms' WHERE id = $1`,
    [databaseId, instanceId, durationMs],
  );
}

export async function releaseLease(connection: Connection, databaseId: string): Promise<void> {
  await connection.query(
    `UPDATE ${NAMESPACE}.rockpool_database SET leased_by = NULL, leased_until = NULL WHERE id = $1`,
    [databaseId],
  );
}
