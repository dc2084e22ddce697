import type { ConflictRow } from '../queries.ts';
import type { Writer } from '../writer.ts';
import { restoreStatement } from './conflicts.ts';

/** Writes the value that lost, as a change like any other: it is newer than the one that won, and syncs. */
export async function restoreLostValue(writer: Writer, conflict: ConflictRow): Promise<void> {
  const statement = restoreStatement(conflict);
  if (statement !== undefined) await writer.execute(statement.sql, statement.params);
}
