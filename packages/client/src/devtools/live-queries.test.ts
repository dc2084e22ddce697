import { expect, it } from 'vitest';
import type { Client } from '../client.ts';
import { liveQueryInspections } from '../live-query-inspection.ts';
import { liveQueries } from './live-queries.ts';

const RUNS = {
  queryId: 1,
  dependencies: [{ table: 'note', columns: ['n'], lookups: null }],
  wakeCount: 1,
  lastRunAtMs: 5,
  lastRunMs: 2,
};

it('liveQueries combines the reports of the page and of the worker about each live query that both run', async () => {
  const client = {} as Client;
  const state = { rows: [{ n: 1 }, { n: 2 }], error: null, loading: false };
  const watched = { statement: { sql: 'a', params: [] }, state, listeners: { count: 1 }, resultCount: 2 };
  liveQueryInspections.set(client, {
    source: { call: (run) => run({ liveQueryRuns: async () => [RUNS, { ...RUNS, queryId: 99 }] }) },
    watchedById: new Map([[1, watched]]),
  });
  expect(await liveQueries(client)).toEqual([
    {
      sql: 'a',
      params: [],
      rowCount: 2,
      listenerCount: 1,
      resultCount: 2,
      dependencies: [{ table: 'note', columns: ['n'] }],
      wakeCount: 1,
      lastRunAtMs: 5,
      lastRunMs: 2,
    },
  ]);
});
