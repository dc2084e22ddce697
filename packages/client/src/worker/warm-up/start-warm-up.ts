import { buildSchema, columnIdOf, DEFAULT_MERGE_RULES, tableIdOf } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';
import { openDatabase } from '../database/open-database.ts';
import type { Clock } from '../leader/clock.ts';
import type { LeaderWork } from '../leader/leadership.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { toSyncDatabase } from '../sync/sync-database.ts';
import type { RehearsedCode } from './rehearse-writes.ts';

export const REHEARSED_CODE: RehearsedCode = {
  openDatabase,
  toSyncDatabase,
  buildSchema,
  columnIdOf,
  tableIdOf,
  mergeRules: DEFAULT_MERGE_RULES,
};

/** The quiet time before the warm-up, in which the page paints its first view. */
const QUIET_MS = 500;

/**
 * Compiles the code of writes and deliveries before the user's first write, which would otherwise wait for the
 * compiler: rehearses them in memory once the leader has been quiet for half a second, a step in each task. The first
 * real write ends the rehearsal, because it has the same effect.
 */
export function startWarmUp(runtime: SqliteRuntime, clock: Clock): LeaderWork {
  let steps: Generator<undefined, void, void> | null = null;
  let isOver = false;

  const end = (): void => {
    isOver = true;
    cancel();
    steps?.return();
    steps = null;
  };
  const step = (): void => {
    if (isOver || steps === null) return;
    if (steps.next().done === true) end();
    else cancel = clock.after(0, step);
  };
  const begin = async (): Promise<void> => {
    const { rehearseWrites } = await loadPart('warm-up', () => import('./rehearse-writes.ts'));
    if (isOver) return;
    steps = rehearseWrites(runtime, REHEARSED_CODE);
    step();
  };
  // A failure needs no report: the first write is then merely as slow as it is without a rehearsal.
  let cancel = clock.after(QUIET_MS, () => void begin().catch(end));

  return {
    onLocalCommit: end,
    tryNow: () => undefined,
    stop: async () => end(),
  };
}
