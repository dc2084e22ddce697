import { useMemo, useSyncExternalStore } from 'react';
import type { LiveState } from '../client.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlParam, SqlRow } from '../rpc/sql-value.ts';
import { statementKey, toStatement } from '../tab/sql.ts';
import { useClient } from './client-context.ts';

/**
 * Rows that stay current: the component draws again when a commit, here or elsewhere, changed the result. Rows that did not change are the
 * same objects as before, so memoised children stay as they are. The statement and its values may be written in place: they are compared by
 * content. While a changed statement is being run for the first time, `loading` is true and there are no rows.
 *
 * ```tsx
 * const { rows, error, loading } = useLiveQuery<Todo>(sql`SELECT * FROM todo WHERE done = ${false}`);
 * ```
 */
export function useLiveQuery<Row extends object = SqlRow>(statement: SqlStatement | string, params?: readonly SqlParam[]): LiveState<Row> {
  const client = useClient();
  const given = toStatement(statement, params);
  const key = statementKey(given);
  // The key stands for the statement: equal keys mean equal statements.
  const live = useMemo(() => client.live<Row>(given), [client, key]);
  return useSyncExternalStore(live.subscribe, () => live.current, () => live.current);
}
