import { RockpoolError } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LiveQuery, LiveState } from '../interface/live-query.ts';
import type { EncodedRows } from '../rpc/rows-transfer.ts';
import { diffRows } from '../worker/live/diff-rows.ts';
import { PageQueries, type LiveEvent, type LiveQueries } from './live-queries.ts';

interface Row {
  readonly n: number;
}

const result = (...values: number[]): EncodedRows => ({
  names: ['n'],
  columns: [{ kind: 'number', values: new Float64Array(values), nulls: null }],
  rowCount: values.length,
});

/** The rows that the worker last sent for query 1; each test resets them. */
let sent = result();
function rows(...values: number[]): LiveEvent {
  const diff = diffRows(sent, result(...values));
  sent = result(...values);
  return { kind: 'live', results: [{ queryId: 1, diff }] };
}

function createWorld(): {
  readonly queries: LiveQueries;
  readonly calls: string[];
  readonly live: (sql: string) => LiveQuery<Row>;
} {
  const calls: string[] = [];
  sent = result();
  const queries = new PageQueries({
    call: (run) =>
      run({
        watch: async (queryId, statement) => void calls.push(`watch ${queryId} ${statement.sql}`),
        unwatch: async (queryId) => void calls.push(`unwatch ${queryId}`),
        liveQueryRuns: async () => [],
      }),
  });
  return { queries, calls, live: (sql) => queries.live<Row>({ sql, params: [] }) };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('live queries of a page', () => {
  it('run once for equal statements, starting with the first listener', () => {
    const { calls, live } = createWorld();
    const one = live('a');
    expect(calls).toEqual([]);
    one.subscribe(() => undefined);
    live('a').subscribe(() => undefined);
    live('b').subscribe(() => undefined);
    expect(calls).toEqual(['watch 1 a', 'watch 2 b']);
  });

  it('run again in a replacement worker, whose rows replace the old ones', () => {
    const { queries, calls, live } = createWorld();
    const heard: LiveState<Row>[] = [];
    live('a').subscribe((state) => heard.push(state));
    queries.onEvent(rows(1, 2));
    queries.watchAgain();
    expect(calls).toEqual(['watch 1 a', 'watch 1 a']);
    expect(live('a').current.rows).toEqual([{ n: 1 }, { n: 2 }]);
    sent = result();
    queries.onEvent(rows(2, 3));
    queries.onEvent(rows(3));
    expect(heard.map((state) => state.rows.map(({ n }) => n))).toEqual([[1, 2], [2, 3], [3]]);
  });

  it('call a late listener at once with the known state', () => {
    const { queries, live } = createWorld();
    live('a').subscribe(() => undefined);
    queries.onEvent(rows(1));
    const heard: LiveState<Row>[] = [];
    live('a').subscribe((state) => heard.push(state));
    expect(heard).toEqual([{ rows: [{ n: 1 }], error: null, loading: false }]);
  });

  it('keep running briefly after the last listener leaves', () => {
    const { queries, calls, live } = createWorld();
    live('a').subscribe(() => undefined)();
    queries.onEvent(rows(1));
    vi.advanceTimersByTime(999);
    expect(live('a').current.rows).toEqual([{ n: 1 }]);
    live('a').subscribe(() => undefined);
    vi.advanceTimersByTime(10_000);
    expect(calls).toEqual(['watch 1 a']);
  });

  it('end without listeners, and start again for the next one', () => {
    const { calls, live } = createWorld();
    const query = live('a');
    const unsubscribe = query.subscribe(() => undefined);
    unsubscribe();
    unsubscribe();
    vi.advanceTimersByTime(1000);
    expect(calls).toEqual(['watch 1 a', 'unwatch 1']);
    query.subscribe(() => undefined);
    expect(query.current.loading).toBe(true);
    expect(calls.at(-1)).toBe('watch 2 a');
  });

  it('keep the same state object until something changes', () => {
    const { queries, live } = createWorld();
    const query = live('a');
    query.subscribe(() => undefined);
    queries.onEvent(rows(1, 2));
    const { current } = query;
    expect(query.current).toBe(current);
    queries.onEvent(rows(1, 3));
    expect(query.current).not.toBe(current);
    expect(query.current.rows[0]).toBe(current.rows[0]);
  });

  it('keep their rows while they have an error, and clear the error after a success', () => {
    const { queries, live } = createWorld();
    const query = live('a');
    query.subscribe(() => undefined);
    queries.onEvent(rows(1));
    queries.onEvent({ kind: 'live', results: [{ queryId: 1, error: new RockpoolError('query-invalid').toData() }] });
    expect(query.current).toMatchObject({ rows: [{ n: 1 }], error: { code: 'query-invalid' }, loading: false });
    queries.onEvent(rows(2));
    expect(query.current).toEqual({ rows: [{ n: 2 }], error: null, loading: false });
  });

  it('continue after a listener throws', () => {
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    const { queries, live } = createWorld();
    let heard = 0;
    live('a').subscribe(() => {
      throw new Error('of the app');
    });
    live('a').subscribe(() => heard++);
    queries.onEvent(rows(1));
    expect(heard).toBe(1);
    expect(reported).toHaveBeenCalledOnce();
    vi.unstubAllGlobals();
  });

  it('update every state before any listener runs', () => {
    const { queries, live } = createWorld();
    const seen: unknown[] = [];
    live('b').subscribe(() => undefined);
    live('a').subscribe(() => seen.push(live('b').current.rows));
    const [ofB, ofA] = [result(1), result(2)].map((after) => diffRows(result(), after));
    if (ofA === undefined || ofB === undefined) throw new Error('two diffs were made');
    queries.onEvent({
      kind: 'live',
      results: [
        { queryId: 2, diff: ofA },
        { queryId: 1, diff: ofB },
      ],
    });
    expect(seen).toEqual([[{ n: 1 }]]);
  });

  it('unsubscribe when the signal aborts', () => {
    const { queries, live } = createWorld();
    const aborter = new AbortController();
    let heard = 0;
    live('a').subscribe(() => heard++, { signal: aborter.signal });
    queries.onEvent(rows(1));
    aborter.abort();
    queries.onEvent(rows(2));
    expect(heard).toBe(1);
  });

  it('unsubscribe when the listener aborts the signal while it receives the known state', () => {
    const { queries, live } = createWorld();
    live('a').subscribe(() => undefined);
    queries.onEvent(rows(1));
    const aborter = new AbortController();
    let heard = 0;
    const listener = (): void => {
      heard++;
      aborter.abort();
    };
    live('a').subscribe(listener, { signal: aborter.signal });
    queries.onEvent(rows(2));
    expect(heard).toBe(1);
  });

  it('iterate over the newest states until the client closes', async () => {
    const { queries, live } = createWorld();
    const seen: unknown[] = [];
    const walking = (async () => {
      for await (const { rows: now, error } of live('a')) seen.push(error?.code ?? now.map(({ n }) => n));
    })();
    await Promise.resolve();
    queries.onEvent(rows(1));
    queries.onEvent(rows(2));
    await vi.advanceTimersByTimeAsync(0);
    queries.onEvent(rows(3));
    await vi.advanceTimersByTimeAsync(0);
    queries.end(new RockpoolError('client-closed'));
    await walking;
    expect(seen).toEqual([[2], [3], 'client-closed']);
  });

  it('end an iteration that waits for a state when the loop is ended from outside', async () => {
    const { calls, live } = createWorld();
    const states = live('a')[Symbol.asyncIterator]();
    const ended: unknown[] = [];
    void states.next().then((result) => ended.push(result));
    await vi.advanceTimersByTimeAsync(0);
    void states.return().then((result) => ended.push(result));
    await vi.advanceTimersByTimeAsync(1_000);
    const done = { done: true, value: undefined };
    expect(ended).toEqual([done, done]);
    expect(calls).toEqual(['watch 1 a', 'unwatch 1']);
  });

  it('report the reason when the client closes', () => {
    const { queries, live, calls } = createWorld();
    const query = live('a');
    query.subscribe(() => undefined);
    queries.end(new RockpoolError('client-closed'));
    expect(query.current).toMatchObject({ error: { code: 'client-closed' }, loading: false });
    live('b').subscribe(() => undefined);
    expect(live('b').current.error?.code).toBe('client-closed');
    expect(calls).toEqual(['watch 1 a']);
  });

  it('keep that reason if the worker refuses a query as the client closes', async () => {
    const refused = Promise.withResolvers<never>();
    const queries = new PageQueries({ call: () => refused.promise });
    const query = queries.live<Row>({ sql: 'a', params: [] });
    query.subscribe(() => undefined);
    queries.end(new RockpoolError('client-closed'));
    refused.reject(new RockpoolError('query-invalid'));
    await vi.advanceTimersByTimeAsync(0);
    expect(query.current.error?.code).toBe('client-closed');
  });

  it('call nothing when the client closes if they have no listeners', () => {
    const { queries, live, calls } = createWorld();
    live('a').subscribe(() => undefined)();
    queries.end(new RockpoolError('client-closed'));
    vi.advanceTimersByTime(10_000);
    expect(calls).toEqual(['watch 1 a']);
  });
});

it('live() returns the same object for equal statements only', () => {
  const { queries } = createWorld();
  const ask = (sql: string, ...params: number[]): unknown => queries.live({ sql, params });
  expect(ask('a', 1)).toBe(ask('a', 1));
  expect(ask('a', 1)).not.toBe(ask('a', 2));
});
