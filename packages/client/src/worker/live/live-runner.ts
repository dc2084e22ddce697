import { toRockpoolError, type ErrorData } from '@rockpool/shared';
import type { Clock } from '../../leader/clock.ts';
import type { Touched } from '../../leader/commit-notice.ts';
import type { Reads } from '../../rpc/reads.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { WorkerEvent } from '../../rpc/worker-api.ts';
import { rowsEqual } from './rows-equal.ts';

export interface LiveRunnerOptions {
  readonly reads: Pick<Reads, 'query' | 'tablesRead'>;
  readonly clock: Clock;
  readonly send: (event: WorkerEvent) => void;
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
  /** What SQLite says it reads, views resolved; null: not known, so every commit counts. */
  tables: readonly string[] | null;
  /** What was sent last. Kept to compare: sending it would cost a copy as well. */
  sent: { readonly rows: EncodedRows } | { readonly error: string } | null;
  isDue: boolean;
}

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
    await Promise.all([...watchedById.values()].filter(({ isDue }) => isDue).map(run));
    const nowMs = clock.nowMs();
    restUntilMs = nowMs + Math.max(0, nowMs - startedMs);
    isPlanned = false;
    // A commit came while they ran.
    if ([...watchedById.values()].some(({ isDue }) => isDue)) plan();
  }

  async function run(watched: Watched): Promise<void> {
    watched.isDue = false;
    const { queryId, statement } = watched;
    try {
      watched.tables ??= await reads.tablesRead(statement.sql);
      const rows = await reads.query(statement);
      if (watchedById.get(queryId) !== watched) return; // Nobody watches any more.
      const { sent } = watched;
      if (sent !== null && 'rows' in sent && rowsEqual(sent.rows, rows)) return;
      watched.sent = { rows };
      send({ kind: 'live-rows', queryId, rows });
    } catch (thrown) {
      const error: ErrorData = toRockpoolError(thrown).toData();
      const text = JSON.stringify(error);
      const { sent } = watched;
      if (sent !== null && 'error' in sent && sent.error === text) return;
      watched.sent = { error: text };
      send({ kind: 'live-error', queryId, error });
    }
  }

  return {
    watch(queryId, statement) {
      watchedById.set(queryId, { queryId, statement, tables: null, sent: null, isDue: true });
      plan();
    },

    unwatch(queryId) {
      watchedById.delete(queryId);
    },

    touch(touched) {
      for (const watched of watchedById.values()) {
        // The schema itself may have changed.
        if (touched === 'all') watched.tables = null;
        if (touched === 'all' || watched.tables === null || watched.tables.some((table) => touched.includes(table))) watched.isDue = true;
        if (watched.isDue) plan();
      }
    },
  };
}
