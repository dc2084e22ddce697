import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { LiveQuery, LiveState } from '../interface/live-query.ts';
import type { InspectedLiveQueries } from '../live-query-inspection.ts';
import { applyDiff } from '../rpc/rows-diff.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlRow } from '../rpc/sql-value.ts';
import type { LiveResult, WorkerApi, WorkerEvent } from '../rpc/worker-api.ts';
import { callListener, createListeners, type Listeners } from './listeners.ts';
import { iterateStates, subscribeUntil } from './subscriptions.ts';
import { statementKey } from './sql.ts';

/** Calls the worker's methods for live queries. */
export interface LiveSource {
  call<T>(run: (worker: Pick<WorkerApi, 'watch' | 'unwatch' | 'liveQueryRuns'>) => Promise<T>): Promise<T>;
}

export type LiveEvent = Extract<WorkerEvent, { kind: 'live' }>;

/** All live queries of a page. Equal statements with equal parameters share one query in the worker. */
export interface LiveQueries extends InspectedLiveQueries {
  live<Row>(statement: SqlStatement): LiveQuery<Row>;
  onEvent(event: LiveEvent): void;
  /** Runs all queries again in a replacement worker, which has no state of this page. */
  watchAgain(): void;
  /** Ends all queries: the worker is gone. Listeners get this error. */
  end(error: RockpoolError): void;
}

/**
 * How long a query keeps running without listeners. React's StrictMode unsubscribes and subscribes again, and users go
 * back to a previous view; neither should show an empty list. This is long enough for both, and short enough to cost
 * nothing.
 */
const LINGER_MS = 1000;

const LOADING: LiveState<SqlRow> = Object.freeze({ rows: [], error: null, loading: true });

interface Watched {
  readonly queryId: number;
  readonly statement: SqlStatement;
  readonly listeners: Listeners<LiveState<SqlRow>>;
  state: LiveState<SqlRow>;
  lingering: ReturnType<typeof setTimeout> | null;
  resultCount: number;
}

export class PageQueries implements LiveQueries {
  // The constructor sets this field; a declaration adds nothing to the page's code.
  declare readonly source: LiveSource;
  private readonly watchedByKey = new Map<string, Watched>();
  readonly watchedById: Map<number, Watched> = new Map();
  private readonly handles = new Map<string, WeakRef<LiveQuery<SqlRow>>>();
  private readonly forgottenHandles = new FinalizationRegistry<string>((key) => {
    if (this.handles.get(key)?.deref() === undefined) this.handles.delete(key);
  });
  private nextQueryId = 1;
  private ended: RockpoolError | null = null;

  constructor(source: LiveSource) {
    this.source = source;
  }

  live<Row>(statement: SqlStatement): LiveQuery<Row> {
    const key = statementKey(statement);
    const held = this.handles.get(key)?.deref() ?? this.createHandle(key, statement);
    // Only the caller knows the row type.
    return held as unknown as LiveQuery<Row>;
  }

  /** Updates all states before any listener runs, so that a listener finds every query at the same commit. */
  onEvent({ results }: LiveEvent): void {
    const changed = results.flatMap((result) => {
      const watched = this.watchedById.get(result.queryId);
      if (watched === undefined) return []; // The worker sent this result before it processed the unwatch.
      watched.state = Object.freeze(stateAfter(watched.state, result));
      watched.resultCount++;
      return [watched];
    });
    for (const { listeners, state } of changed) listeners.emit(state);
  }

  watchAgain(): void {
    for (const watched of this.watchedById.values()) this.askFor(watched);
  }

  end(error: RockpoolError): void {
    this.ended = error;
    for (const watched of [...this.watchedById.values()]) fail(watched, error);
  }

  private watch(key: string, statement: SqlStatement): Watched {
    const watched: Watched = {
      queryId: this.nextQueryId++,
      statement,
      resultCount: 0,
      listeners: createListeners(),
      state: LOADING,
      lingering: null,
    };
    this.watchedByKey.set(key, watched);
    this.watchedById.set(watched.queryId, watched);
    if (this.ended === null) this.askFor(watched);
    else fail(watched, this.ended);
    return watched;
  }

  private askFor(watched: Watched): void {
    this.source
      .call((worker) => worker.watch(watched.queryId, watched.statement))
      .catch((thrown: unknown) => {
        if (this.ended === null) fail(watched, toRockpoolError(thrown));
      });
  }

  private forget(key: string, watched: Watched): void {
    this.watchedByKey.delete(key);
    this.watchedById.delete(watched.queryId);
    // A terminated worker runs no queries.
    if (this.ended === null) this.source.call((worker) => worker.unwatch(watched.queryId)).catch(() => undefined);
  }

  private subscribe(key: string, statement: SqlStatement, listener: (state: LiveState<SqlRow>) => void): () => void {
    const watched = this.watchedByKey.get(key) ?? this.watch(key, statement);
    if (watched.lingering !== null) clearTimeout(watched.lingering);
    watched.lingering = null;
    const remove = watched.listeners.add(listener);
    if (!watched.state.loading) callListener(listener, watched.state);
    return () => {
      remove();
      // A query that was forgotten has lingered.
      if (watched.listeners.count > 0 || watched.lingering !== null) return;
      watched.lingering = setTimeout(() => this.forget(key, watched), LINGER_MS);
    };
  }

  /**
   * Creates the object that the app holds. Equal statements share it while any reference exists, so that a view may
   * call `live` on every render.
   */
  private createHandle(key: string, statement: SqlStatement): LiveQuery<SqlRow> {
    const { watchedByKey } = this;
    const handle: LiveQuery<SqlRow> = {
      get current() {
        return watchedByKey.get(key)?.state ?? LOADING;
      },
      subscribe: (listener, options) =>
        subscribeUntil((heard) => this.subscribe(key, statement, heard), listener, options?.signal),
      [Symbol.asyncIterator]: () => iterateStates(handle),
    };
    this.handles.set(key, new WeakRef(handle));
    this.forgottenHandles.register(handle, key);
    return handle;
  }
}

/** Keeps the rows. */
function fail(watched: Watched, error: RockpoolError): void {
  watched.state = Object.freeze({ rows: watched.state.rows, error, loading: false });
  watched.listeners.emit(watched.state);
}

/** The first diff of a worker contains all rows. An error keeps the rows, and the next diff is based on them. */
function stateAfter({ rows }: LiveState<SqlRow>, result: LiveResult): LiveState<SqlRow> {
  if ('error' in result) return { rows, error: RockpoolError.fromData(result.error), loading: false };
  return { rows: applyDiff(rows, result.diff), error: null, loading: false };
}
