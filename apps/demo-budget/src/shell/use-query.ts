import type { LiveState, SqlParam } from '@rockpool/client';
import { useLiveQuery } from '@rockpool/client/react';
import { useEffect, useRef } from 'react';
import { useReport } from './failure.tsx';

/** A live query of `queries/`. Where it fails, the failure is shown, with the last rows that are known. */
export function useQuery<Row extends object>(sql: string, params: readonly SqlParam[] = []): LiveState<Row> {
  const state = useLiveQuery<Row>(sql, params);
  const report = useReport();
  useEffect(() => {
    if (state.error !== null) report(state.error);
  }, [report, state.error]);
  return state;
}

/**
 * A live query whose parameters change while one looks, such as a search: the rows of the last parameters stay until
 * those of the new ones are there, so that nothing flickers. Not for parameters that name another thing: it would show
 * one account's rows under another's name.
 */
export function useSteadyQuery<Row extends object>(sql: string, params: readonly SqlParam[]): LiveState<Row> {
  const state = useQuery<Row>(sql, params);
  const last = useRef(state);
  if (!state.loading) last.current = state;
  return last.current;
}
