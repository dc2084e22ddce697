import { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { ReadInterrupted } from '../leader/opened-database.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import { loadSqlite } from '../sqlite/load-sqlite.node.ts';
import { Connection } from '../sqlite/connection.ts';
import { QueryRun } from '../database/query-run.ts';
import { SlowReads } from './slow-reads.ts';

const runtime = await loadSqlite();
const NUMBERS = {
  sql: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i, i % 3 = 0 AS third, CASE WHEN i % 7 > 0 THEN printf(i) END AS text FROM n',
  params: [300_000],
};

interface World {
  readonly slow: SlowReads;
  opened: number;
  started: number;
}

function createWorld(failure: RockpoolError | null = null): World {
  const world = { opened: 0, started: 0 };
  const slow = new SlowReads(async () => {
    world.opened++;
    const connection = new Connection(runtime, { path: ':memory:' });
    return {
      database: {
        startQuery: (statement) => {
          if (world.started++ === 0 && failure !== null) throw failure;
          return new QueryRun(connection, statement);
        },
      },
      close: async () => connection.close(),
    };
  });
  return Object.assign(world, { slow });
}

it('a query that runs in parts returns the same rows as one that runs at once', () => {
  const connection = new Connection(runtime, { path: ':memory:' });
  const whole = new QueryRun(connection, NUMBERS).advance(Number.POSITIVE_INFINITY);
  const run = new QueryRun(connection, NUMBERS);
  let parts = 0;
  let rows = null;
  for (; rows === null; parts++) rows = run.advance(0);
  expect(parts).toBeGreaterThan(1000);
  expect(rows).toEqual(whole);
  connection.close();
});

it('a query that has sorted its rows continues instead of starting over', () => {
  const connection = new Connection(runtime, { path: ':memory:' });
  const sorted = { sql: `SELECT i FROM (${NUMBERS.sql}) ORDER BY text LIMIT 100`, params: NUMBERS.params };
  const run = new QueryRun(connection, sorted);
  expect(run.advance(0)?.rowCount).toBe(100);
  connection.close();
});

it('other work runs between the parts of a query, and the next query waits until the first one ends', async () => {
  const { slow } = createWorld();
  const ended: string[] = [];
  const first = slow.query(NUMBERS).then((rows) => ended.push(`${rows.rowCount} rows`));
  const second = slow
    .query({ sql: 'SELECT 1 AS one', params: [] })
    .then((rows) => ended.push(JSON.stringify(decodeRows(rows))));
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve));
  ended.push('other work');
  await Promise.all([first, second]);
  expect(ended).toEqual(['other work', '300000 rows', '[{"one":1}]']);
  await slow.close();
});

it('a query that fails does not affect other queries', async () => {
  const { slow } = createWorld();
  await expect(slow.query({ sql: 'SELECT nonsense', params: [] })).rejects.toMatchObject({ code: 'query-invalid' });
  await expect(slow.query({ sql: 'DELETE FROM sqlite_master', params: [] })).rejects.toBeInstanceOf(RockpoolError);
  expect((await slow.query({ sql: 'SELECT 1', params: [] })).rowCount).toBe(1);
  await slow.close();
});

it('a query that loses its snapshot is repeated', async () => {
  const world = createWorld(new RockpoolError('storage-lost', { reason: 'snapshot' }));
  expect((await world.slow.query({ sql: 'SELECT 1', params: [] })).rowCount).toBe(1);
  expect(world.started).toBe(2);
  await world.slow.close();
});

it('a query opens the connection again if an earlier query could not open it', async () => {
  let attempts = 0;
  const connection = new Connection(runtime, { path: ':memory:' });
  const slow = new SlowReads(async () => {
    if (attempts++ === 0) throw new RockpoolError('storage-busy');
    return {
      database: { startQuery: (statement) => new QueryRun(connection, statement) },
      close: async () => connection.close(),
    };
  });
  const one = { sql: 'SELECT 1', params: [] };
  await expect(slow.query(one)).rejects.toMatchObject({ code: 'storage-busy' });
  expect((await slow.query(one)).rowCount).toBe(1);
  await slow.close();
});

it('closing interrupts running and waiting queries, and opens nothing', async () => {
  const world = createWorld();
  const queries = [world.slow.query(NUMBERS), world.slow.query(NUMBERS)];
  await new Promise((resolve) => setTimeout(resolve));
  const outcomes = Promise.allSettled(queries);
  await world.slow.close();
  for (const outcome of await outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ReadInterrupted) as unknown });
  await expect(world.slow.query(NUMBERS)).rejects.toBeInstanceOf(ReadInterrupted);
  expect(world.opened).toBe(1);
});
