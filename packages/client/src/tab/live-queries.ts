import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { LiveQuery, LiveState } from '../client.ts';
import type { LiveQueryInspection } from '../live-query-inspection.ts';
import { applyDiff } from '../rpc/rows-diff.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlRow } from '../rpc/sql-value.ts';
import type { LiveQueryRuns, LiveResult, WorkerEvent } from '../rpc/worker-api.ts';
import { callListener, createListeners, type Listeners } from './listeners.ts';
import { iterateStates, subscribeUntil } from './subscriptions.ts';
import { statementKey } from './sql.ts';

/** The worker's interface for live queries. */
export interface LiveSource {
  watch(queryId: number, statement: SqlStatement): Promise<void>;
  unwatch(queryId: number): Promise<void>;
  runs(): Promise<readonly LiveQueryRuns[]>;
}

export type LiveEvent = Extract<WorkerEvent, { kind: 'live' }>;

/** All live queries of a page. Equal statements with equal parameters share one query in the worker. */
export interface LiveQueries {
  live<Row>(statement: SqlStatement): LiveQuery<Row>;
  onEvent(event: LiveEvent): void;
  /** What the page and its worker know about the queries that run. */
  inspect(): Promise<LiveQueryInspection>;
  /** Runs all queries again in a replacement worker, which knows nothing of this page. */
  watchAgain(): void;
  /** Ends all queries: the worker is gone. Listeners get this error. */
  end(error: RockpoolError): void;
}

/**
 * How long a query keeps running without listeners. React's StrictMode unsubscribes and subscribes again, and users go
 * back to a previous view; neither should see an empty list. Long enough for both, short enough to cost nothing.
 */
const LINGER_MS = 1000;

const LOADING: LiveState<SqlRow> = Object.freeze({ rows: [], error: null, loading: true });

interface Watched {
  readonly queryId: number;
  readonly statement: SqlStatement;
  /** The rows that the worker's next diff is based on. */
  known: readonly SqlRow[];
  readonly listeners: Listeners<LiveState<SqlRow>>;
  state: LiveState<SqlRow>;
  lingering: ReturnType<typeof setTimeout> | null;
  resultCount: number;
}

export function createLiveQueries(source: LiveSource): LiveQueries {
  const watchedByKey = new Map<string, Watched>();
  const watchedById = new Map<number, Watched>();
  const handles = new Map<string, WeakRef<LiveQuery<SqlRow>>>();
  const forgottenHandles = new FinalizationRegistry<string>((key) => {
    if (handles.get(key)?.deref() === undefined) handles.delete(key);
  });
  let nextQueryId = 1;
  let ended: RockpoolError | null = null;

  function setState(watched: Watched, state: LiveState<SqlRow>): void {
    watched.state = Object.freeze(state);
    watched.listeners.emit(watched.state);
  }

  function watch(key: string, statement: SqlStatement): Watched {
    const watched: Watched = {
      queryId: nextQueryId++,
      statement,
      known: [],
      resultCount: 0,
      listeners: createListeners(),
      state: LOADING,
      lingering: null,
    };
    watchedByKey.set(key, watched);
    watchedById.set(watched.queryId, watched);
    if (ended !== null) {
      watched.state = { rows: [], error: ended, loading: false };
      return watched;
    }
    askFor(watched);
    return watched;
  }

  function askFor(watched: Watched): void {
    source.watch(watched.queryId, watched.statement).catch((thrown: unknown) => {
      if (ended === null)
        setState(watched, { rows: watched.state.rows, error: toRockpoolError(thrown), loading: false });
    });
  }

  function forget(key: string, watched: Watched): void {
    watchedByKey.delete(key);
    watchedById.delete(watched.queryId);
    // A terminated worker runs no queries.
    if (ended === null) source.unwatch(watched.queryId).catch(() => undefined);
  }

  function subscribe(key: string, statement: SqlStatement, listener: (state: LiveState<SqlRow>) => void): () => void {
    const watched = watchedByKey.get(key) ?? watch(key, statement);
    if (watched.lingering !== null) clearTimeout(watched.lingering);
    watched.lingering = null;
    const remove = watched.listeners.add(listener);
    if (!watched.state.loading) callListener(listener, watched.state);
    return () => {
      remove();
      if (watched.listeners.count > 0 || watched.lingering !== null || watchedByKey.get(key) !== watched) return;
      watched.lingering = setTimeout(() => forget(key, watched), LINGER_MS);
    };
  }

  /**
   * Creates the object that the app holds. Equal statements share it while any reference exists, so that a view may
   * call `live` on every render.
   */
  function createHandle(key: string, given: SqlStatement): LiveQuery<SqlRow> {
    // The caller may reuse its array and byte buffers.
    const statement = structuredClone({ sql: given.sql, params: given.params });
    const handle: LiveQuery<SqlRow> = {
      get current() {
        return watchedByKey.get(key)?.state ?? LOADING;
      },
      subscribe: (listener, options) =>
        subscribeUntil((heard) => subscribe(key, statement, heard), listener, options?.signal),
      [Symbol.asyncIterator]: () => iterateStates(handle),
    };
    handles.set(key, new WeakRef(handle));
    forgottenHandles.register(handle, key);
    return handle;
  }

  return {
    live<Row>(given: SqlStatement): LiveQuery<Row> {
      const key = statementKey(given);
      const held = handles.get(key)?.deref() ?? createHandle(key, given);
      // Only the caller knows the row type.
      return held as unknown as LiveQuery<Row>;
    },

    /** Updates all states before any listener runs, so that a listener sees every query after the same commit. */
    onEvent({ results }) {
      const changed = results.flatMap((result) => {
        const watched = watchedById.get(result.queryId);
        if (watched === undefined) return []; // Sent before the worker processed the unwatch.
        watched.state = Object.freeze(stateAfter(watched, result));
        watched.known = watched.state.rows;
        watched.resultCount++;
        return [watched];
      });
      for (const { listeners, state } of changed) listeners.emit(state);
    },

    watchAgain() {
      for (const watched of watchedById.values()) {
        watched.known = [];
        askFor(watched);
      }
    },

    inspect: async () => ({ runs: await source.runs(), watchedById }),

    end(error) {
      ended = error;
      for (const [key, watched] of [...watchedByKey]) {
        if (watched.lingering !== null) {
          clearTimeout(watched.lingering);
          forget(key, watched);
        } else {
          setState(watched, { rows: watched.state.rows, error, loading: false });
        }
      }
    },
  };
}

function stateAfter({ state, known }: Watched, result: LiveResult): LiveState<SqlRow> {
  if ('error' in result) return { rows: state.rows, error: RockpoolError.fromData(result.error), loading: false };
  return { rows: applyDiff(known, result.diff), error: null, loading: false };
}
