import type { LiveState, SqlParam } from '@rockpool/client';
import { useLiveQuery } from '@rockpool/client/react';
import { useEffect, useRef } from 'react';
import { useReport } from './failure.tsx';

/** A live query from `queries/`. On failure, shows the failure and keeps the last known rows. */
export function useQuery<Row extends object>(sql: string, params: readonly SqlParam[] = []): LiveState<Row> {
  const state = useLiveQuery<Row>(sql, params);
  const report = useReport();
  useEffect(() => {
    if (state.error !== null) report(state.error);
  }, [report, state.error]);
  return state;
}

/**
 * A live query with changing parameters, such as a search: the previous rows stay until the new ones arrive, which
 * avoids flicker. Do not use it for parameters that select a different object: it would show one account's rows under
 * another account's name.
 */
export function useSteadyQuery<Row extends object>(sql: string, params: readonly SqlParam[]): LiveState<Row> {
  const state = useQuery<Row>(sql, params);
  const last = useRef(state);
  if (!state.loading) last.current = state;
  return last.current;
}
