import { toRockpoolError, type ErrorData } from '@rockpool/shared';
import type { Clock } from '../../leader/clock.ts';
import { mayAffect, type QueryDependencies, type Touched } from '../../rpc/query-dependencies.ts';
import type { Reads } from '../../rpc/reads.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import { diffTransferables } from '../../rpc/rows-diff.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { LiveResult, WorkerEvent } from '../../rpc/worker-api.ts';
import { diffRows, isUnchanged } from './diff-rows.ts';

export interface LiveRunnerOptions {
  readonly reads: Pick<Reads, 'query' | 'dependencies'>;
  readonly clock: Clock;
  /** `transferables`: buffers in it that this side does not need any more. */
  readonly send: (event: WorkerEvent, transferables: ArrayBuffer[]) => void;
}

/** Runs the live queries of this tab: at first, and whenever a commit touched a table that they read. */
export interface LiveRunner {
  watch(queryId: number, statement: SqlStatement): void;
  unwatch(queryId: number): void;
  /** A commit of any tab, or of sync. */
  touch(touched: Touched): void;
}

interface Watched {
  readonly queryId: number;
  readonly statement: SqlStatement;
  /** Null: not known, so every commit counts. */
  dependencies: QueryDependencies | null;
  /** The rows that the page has. */
  rows: EncodedRows;
  /** The error that the page has, as text; null where it has the rows. */
  error: string | null;
  hasResult: boolean;
  isDue: boolean;
}

interface News {
  readonly result: LiveResult;
  readonly transferables: readonly ArrayBuffer[];
}

const NO_ROWS: EncodedRows = { names: [], columns: [], rowCount: 0 };

export function createLiveRunner({ reads, clock, send }: LiveRunnerOptions): LiveRunner {
  const watchedById = new Map<number, Watched>();
  let isPlanned = false;
  let restUntilMs = 0;

  /** Once per tick, however many commits come in it; and no more than half of the worker's time, so that writes go on under heavy queries. */
  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    clock.after(Math.max(0, restUntilMs - clock.nowMs()), () => void runDue());
  }

  async function runDue(): Promise<void> {
    const startedMs = clock.nowMs();
    // Together: what is read elsewhere costs a message each, and where roles change all of them wait.
    const results = await Promise.all([...watchedById.values()].filter(({ isDue }) => isDue).map(run));
    const news = results.filter((result) => result !== null);
    if (news.length > 0) send({ kind: 'live', results: news.map(({ result }) => result) }, news.flatMap(({ transferables }) => transferables));
    const nowMs = clock.nowMs();
    restUntilMs = nowMs + Math.max(0, nowMs - startedMs);
    isPlanned = false;
    // A commit came while they ran.
    if ([...watchedById.values()].some(({ isDue }) => isDue)) plan();
  }

  /** Null where the page knows it. */
  async function run(watched: Watched): Promise<News | null> {
    watched.isDue = false;
    const { queryId, statement } = watched;
    try {
      watched.dependencies ??= await reads.dependencies(statement);
      const startedMs = performance.now();
      const rows = await reads.query(statement);
      const tookMs = performance.now() - startedMs;
      if (watchedById.get(queryId) !== watched) return null; // Nobody watches any more.
      const diff = diffRows(watched.rows, rows);
      const isKnown = watched.hasResult && watched.error === null && isUnchanged(diff, watched.rows);
      Object.assign(watched, { rows, error: null, hasResult: true });
      // A diff that is the whole result is copied: what was sent is kept here, to compare the next with.
      return isKnown ? null : { result: { queryId, diff, tookMs }, transferables: diff.added === rows ? [] : diffTransferables(diff) };
    } catch (thrown) {
      const error: ErrorData = toRockpoolError(thrown).toData();
      const text = JSON.stringify(error);
      if (watched.error === text) return null;
      watched.error = text;
      return { result: { queryId, error }, transferables: [] };
    }
  }

  return {
    watch(queryId, statement) {
      watchedById.set(queryId, { queryId, statement, dependencies: null, rows: NO_ROWS, error: null, hasResult: false, isDue: true });
      plan();
    },

    unwatch(queryId) {
      watchedById.delete(queryId);
    },

    touch(touched) {
      for (const watched of watchedById.values()) {
        // The schema itself may have changed.
        if (touched === 'all') watched.dependencies = null;
        if (watched.dependencies === null || mayAffect(touched, watched.dependencies)) watched.isDue = true;
        if (watched.isDue) plan();
      }
    },
  };
}
