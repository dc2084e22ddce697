import { toRockpoolError, type ErrorData } from '@rockpool/shared';
import type { Clock } from '../../leader/clock.ts';
import type { Touched } from '../../leader/commit-notice.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { SqlParam } from '../../rpc/sql-value.ts';
import type { WorkerEvent } from '../../rpc/worker-api.ts';
import { rowsEqual } from './rows-equal.ts';

/** What this needs of a database. */
export interface QueryableDatabase {
  query(sql: string, params: readonly SqlParam[]): EncodedRows;
  tablesRead(sql: string): readonly string[];
}

export interface LiveRunnerOptions {
  /** Waits while there is none, because roles change. */
  readonly database: () => Promise<QueryableDatabase>;
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

export function createLiveRunner({ database, clock, send }: LiveRunnerOptions): LiveRunner {
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
    const opened = await database().catch(() => null);
    isPlanned = false;
    if (opened === null) return; // The client has ended; its calls say why.
    const startedMs = clock.nowMs();
    for (const watched of watchedById.values()) if (watched.isDue) run(opened, watched);
    const nowMs = clock.nowMs();
    restUntilMs = nowMs + Math.max(0, nowMs - startedMs);
  }

  function run(opened: QueryableDatabase, watched: Watched): void {
    watched.isDue = false;
    const { queryId, statement, sent } = watched;
    try {
      watched.tables ??= opened.tablesRead(statement.sql);
      const rows = opened.query(statement.sql, statement.params);
      if (sent !== null && 'rows' in sent && rowsEqual(sent.rows, rows)) return;
      watched.sent = { rows };
      send({ kind: 'live-rows', queryId, rows });
    } catch (thrown) {
      const error: ErrorData = toRockpoolError(thrown).toData();
      const text = JSON.stringify(error);
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
