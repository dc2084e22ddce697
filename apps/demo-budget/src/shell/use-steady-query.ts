import type { LiveState, SqlParam } from '@rockpool/client';
import { useLiveQuery } from '@rockpool/client/react';
import { useRef } from 'react';

/**
 * A live query whose parameters change while one looks, such as a search: the rows of the last parameters stay until those of the new
 * ones are there, so that nothing flickers. Not for parameters that name another thing: it would show one account's rows under another's name.
 */
export function useSteadyQuery<Row extends object>(sql: string, params: readonly SqlParam[]): LiveState<Row> {
  const state = useLiveQuery<Row>(sql, params);
  const last = useRef(state);
  if (!state.loading) last.current = state;
  return last.current;
}
