import {
  RockpoolError,
  type Client,
  type LiveQuery,
  type LiveState,
  type PastState,
  type SqlParam,
  type SqlRow,
  type SqlStatement,
} from '@rockpool/client';

/**
 * A client for pages that show a past state: its queries read that state, which never changes, and its writes are
 * refused with `sql-read-only`. Everything else is the same as for today's budget.
 */
export function pastClient(client: Client, past: PastState): Client {
  // A page asks for its live queries at every render and expects the same object for the same statement.
  const queries = new Map<string, UnchangingQuery<object>>();
  function live<Row extends object>(given: SqlStatement | string, params: readonly SqlParam[] = []): LiveQuery<Row> {
    const statement = typeof given === 'string' ? { sql: given, params } : given;
    const name = JSON.stringify([statement.sql, statement.params]);
    const query = queries.get(name) ?? new UnchangingQuery(() => past.query(statement));
    queries.set(name, query);
    return query as unknown as LiveQuery<Row>;
  }
  return {
    ...client,
    query: <Row extends object = SqlRow>(given: SqlStatement | string, params?: readonly SqlParam[]) =>
      typeof given === 'string' ? past.query<Row>(given, params) : past.query<Row>(given),
    live,
    execute: refuse,
    batch: refuse,
    transaction: refuse,
    undo: refuse,
    redo: refuse,
  };
}

function refuse(): never {
  throw new RockpoolError('sql-read-only');
}

/** The result of a query that never changes. Runs once, for its first listener. */
class UnchangingQuery<Row> implements LiveQuery<Row> {
  current: LiveState<Row> = Object.freeze({ rows: [], error: null, loading: true });
  private readonly listeners = new Set<(state: LiveState<Row>) => void>();
  private readonly run: () => Promise<Row[]>;
  private settled: Promise<void> | null = null;

  constructor(run: () => Promise<Row[]>) {
    this.run = run;
  }

  // A property, because React calls it without `this`.
  readonly subscribe = (
    listener: (state: LiveState<Row>) => void,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): (() => void) => {
    const stop = (): void => void this.listeners.delete(listener);
    this.listeners.add(listener);
    signal?.addEventListener('abort', stop);
    if (!this.current.loading) listener(this.current);
    this.settled ??= this.settle();
    return stop;
  };

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveState<Row>, void, void> {
    await (this.settled ??= this.settle());
    yield this.current;
  }

  private async settle(): Promise<void> {
    this.current = Object.freeze(await this.read());
    for (const listener of this.listeners) listener(this.current);
  }

  private async read(): Promise<LiveState<Row>> {
    try {
      return { rows: await this.run(), error: null, loading: false };
    } catch (thrown) {
      const error = thrown instanceof RockpoolError ? thrown : new RockpoolError('internal', {}, { cause: thrown });
      return { rows: [], error, loading: false };
    }
  }
}
