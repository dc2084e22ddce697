import { RockpoolError, type Client, type LiveQuery, type LiveState, type SqlRow } from '@rockpool/client';
import { RockpoolQuery, type PlaceholderValues } from './prepared-query.ts';

/** A `select`, `findMany` or `findFirst` that is not awaited. */
export interface DrizzleRead<Result> {
  readonly _: { readonly dialect: 'sqlite'; readonly result: Result };
  toSQL(): { sql: string; params: unknown[] };
}

/** The row type of a query; `findFirst` yields one row or none. */
export type RowOf<Result> = Result extends readonly (infer Row)[] ? Row : NonNullable<Result>;

interface Preparable {
  _prepare(): unknown;
}

/**
 * Returns a live query for a Drizzle query, with the row types of Drizzle. Unchanged rows keep their object identity.
 * `findFirst` yields a list of one row or none. Placeholders take their values once, from `values`.
 *
 * Keep the returned object (in React with `useMemo`): a second call decodes the rows again into different objects.
 *
 * Throws `sql-forbidden` for a write and `query-invalid` for a placeholder without a value. A stored value that its
 * column cannot decode becomes the `error` of the live query, like any failure of the query.
 *
 * ```ts
 * const open = liveQuery(client, db.select().from(todo).where(eq(todo.done, false)));
 * const unsubscribe = open.subscribe(({ rows }) => draw(rows));
 * ```
 */
export function liveQuery<Result>(
  client: Client,
  read: DrizzleRead<Result>,
  values: PlaceholderValues = {},
): LiveQuery<RowOf<Result>> {
  const query = (read as unknown as Preparable)._prepare();
  if (!(query instanceof RockpoolQuery) || !query.givesRows)
    throw new RockpoolError('sql-forbidden', { problem: 'a live query must return rows' });
  const live = client.live<SqlRow>(query.readStatement(values));
  const decode = createStateDecoder<RowOf<Result>>((row) => query.decodeRows([row])[0] as RowOf<Result>);
  return {
    get current() {
      return decode(live.current);
    },
    subscribe: (listener, options) => live.subscribe((state) => listener(decode(state)), options),
    [Symbol.asyncIterator]: () => iterate(live, decode),
  };
}

/** `return` also ends an iteration that waits for the next state, like that of `live`. */
function iterate<Row>(
  live: LiveQuery<SqlRow>,
  decode: (state: LiveState<SqlRow>) => LiveState<Row>,
): AsyncGenerator<LiveState<Row>, void, void> {
  const raw = live[Symbol.asyncIterator]();
  const states = (async function* (): AsyncGenerator<LiveState<Row>, void, void> {
    for await (const state of raw) yield decode(state);
  })();
  const end = states.return.bind(states);
  states.return = async (value) => {
    await raw.return();
    return end(value);
  };
  return states;
}

/**
 * Memoises by identity. States are memoised because views compare them, and rows because the client keeps their objects
 * while they do not change.
 */
function createStateDecoder<Row>(decodeRow: (row: SqlRow) => Row): (state: LiveState<SqlRow>) => LiveState<Row> {
  const decodedStates = new WeakMap<LiveState<SqlRow>, LiveState<Row>>();
  const decodedRows = new WeakMap<SqlRow, { readonly row: Row }>();
  let lastRows: readonly Row[] = [];

  const rowOf = (raw: SqlRow): Row => {
    let decoded = decodedRows.get(raw);
    if (decoded === undefined) decodedRows.set(raw, (decoded = { row: decodeRow(raw) }));
    return decoded.row;
  };

  function decode(state: LiveState<SqlRow>): LiveState<Row> {
    try {
      lastRows = state.rows.map(rowOf);
      return Object.freeze({ ...state, rows: lastRows });
    } catch (error) {
      if (!(error instanceof RockpoolError)) throw error;
      return Object.freeze({ rows: lastRows, error, loading: false });
    }
  }

  return (state) => {
    let decoded = decodedStates.get(state);
    if (decoded === undefined) decodedStates.set(state, (decoded = decode(state)));
    return decoded;
  };
}
