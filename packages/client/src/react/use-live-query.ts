import { useSyncExternalStore } from 'react';
import type { LiveState, SqlParam, SqlRow, SqlStatement } from '../client.ts';
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
  // The same object for equal statements, so drawing again does not subscribe again.
  const live = typeof statement === 'string' ? client.live<Row>(statement, params) : client.live<Row>(statement);
  const read = (): LiveState<Row> => live.current;
  return useSyncExternalStore(live.subscribe, read, read);
}
