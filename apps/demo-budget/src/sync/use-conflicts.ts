import { useLiveQuery } from '@rockpool/client/react';
import { useMemo } from 'react';
import { latestConflicts, type ConflictRow } from '../queries/conflicts.ts';
import { conflictsOf, stateOf, type Conflict } from './conflicts.ts';

export interface Conflicts {
  /** Newest first. */
  readonly open: readonly Conflict[];
  /** Restored, changed since or dismissed, newest first. */
  readonly settled: readonly Conflict[];
  readonly loading: boolean;
}

/**
 * The latest conflicts, kept current. It reports no failure, because it is also used outside of pages: the last known
 * conflicts remain.
 */
export function useConflicts(): Conflicts {
  const { rows, loading } = useLiveQuery<ConflictRow>(latestConflicts);
  return useMemo(() => {
    const all = conflictsOf(rows);
    const isOpen = (conflict: Conflict): boolean => stateOf(conflict) === 'open';
    return { open: all.filter(isOpen), settled: all.filter((conflict) => !isOpen(conflict)), loading };
  }, [loading, rows]);
}
