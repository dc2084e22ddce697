import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { QueryDependencies, TouchedTables } from '../../rpc/query-dependencies.ts';
import type { QueryResult } from '../../rpc/reads.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import type { WorkerEvent } from '../../rpc/worker-api.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { createLiveRunner, type LiveRunner } from './live-runner.ts';

/** A database with one number per table; a query is a list of the tables that it reads, and returns their numbers. */
class FakeDatabase {
  readonly numbers: Record<string, number> = { a: 1, b: 1 };
  readonly ran: string[] = [];
  costMs = 0;
  private readonly time: { elapsedMs: number };

  constructor(time: { elapsedMs: number }) {
    this.time = time;
  }

  query(sql: string): EncodedRows {
    this.ran.push(sql);
    this.time.elapsedMs += this.costMs;
    const values = (this.isEmpty ? [] : sql.split(' ')).map((table) => {
      const number = this.numbers[table];
      if (number === undefined) throw new RockpoolError('query-invalid', { table });
      return number;
    });
    return {
      names: ['n'],
      columns: [{ kind: 'number', values: new Float64Array(values), nulls: null }],
      rowCount: values.length,
    };
  }

  outcome(sql: string): QueryResult {
    try {
      return { rows: this.query(sql), tookMs: 0 };
    } catch (thrown) {
      return { error: toRockpoolError(thrown).toData() };
    }
  }

  /** Whether no table has rows. */
  isEmpty = false;

  /** The query behind a view. */
  view: readonly string[] = [];

  /** Reads of rows wait for this promise. */
  whenRead: Promise<void> = Promise.resolve();

  /** The read of a query's dependencies waits for this promise. */
  whenAsked: Promise<void> = Promise.resolve();

  async dependencies(sql: string): Promise<QueryDependencies> {
    const { view } = this;
    await this.whenAsked;
    return [...sql.split(' '), ...view].map((table) => ({ table, columns: [], lookups: null }));
  }
}

interface World {
  readonly database: FakeDatabase;
  readonly runner: LiveRunner;
  readonly problems: readonly string[];
  breakSending(isBroken: boolean): void;
  /** Sets the wall clock, and no other clock. */
  setWallClock(byMs: number): void;
  /** The results that the page received since the last call. */
  takeEvents(): string[];
  tick(durationMs?: number): Promise<void>;
}

function createWorld(): World {
  const time = { elapsedMs: 0, wallOffsetMs: 0 };
  const database = new FakeDatabase(time);
  const events: WorkerEvent[] = [];
  const problems: string[] = [];
  let sendFails = false;
  let timers: { readonly dueMs: number; readonly callback: () => void }[] = [];
  const runner = createLiveRunner({
    reads: {
      queryAll: async (statements) => {
        await database.whenRead;
        return statements.map(({ sql }) => database.outcome(sql));
      },
      dependencies: ({ sql }) => database.dependencies(sql),
    },
    clock: {
      nowMs: () => time.elapsedMs + time.wallOffsetMs,
      elapsedMs: () => time.elapsedMs,
      after(delayMs, callback) {
        timers.push({ dueMs: time.elapsedMs + delayMs, callback });
        return () => undefined;
      },
    },
    send: (event) => {
      if (sendFails) throw new TypeError('cannot be sent');
      events.push(event);
    },
    onProblem: ({ code }) => problems.push(code),
  });
  return {
    database,
    problems,
    breakSending: (isBroken) => void (sendFails = isBroken),
    setWallClock: (byMs) => void (time.wallOffsetMs += byMs),
    runner,
    takeEvents: () =>
      events.splice(0).flatMap((event) => {
        if (event.kind !== 'live') return [event.kind];
        return event.results.map((result) => {
          if ('error' in result) return `${result.queryId}: ${result.error.code}`;
          const [column] = result.diff.added.columns;
          return `${result.queryId}: ${column?.kind === 'number' ? column.values.join(' ') : ''}`;
        });
      }),
    async tick(durationMs = 0) {
      time.elapsedMs += durationMs;
      const due = timers.filter(({ dueMs }) => dueMs <= time.elapsedMs);
      timers = timers.filter(({ dueMs }) => dueMs > time.elapsedMs);
      for (const { callback } of due) callback();
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
}

describe('a live query', () => {
  it('sends its first result', async () => {
    const { runner, takeEvents, tick } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    expect(takeEvents()).toEqual(['1: 1']);
  });

  it('sends nothing if it was ended while it ran', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    const read = Promise.withResolvers<void>();
    database.whenRead = read.promise;
    runner.watch(1, { sql: 'a', params: [] });
    runner.watch(2, { sql: 'b', params: [] });
    await tick();
    runner.unwatch(1);
    read.resolve();
    await tick();
    expect(takeEvents()).toEqual(['2: 1']);
  });

  it('reports rows after an error, even if they are the same as before', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    delete database.numbers['a'];
    runner.touch({ tables: ['a'], changes: [] });
    await tick(1_000);
    database.numbers['a'] = 1;
    runner.touch({ tables: ['a'], changes: [] });
    await tick(1_000);
    expect(takeEvents()).toEqual(['1: 1', '1: query-invalid', '1: ']);
  });

  it('runs again only when a table that it reads was touched', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    runner.watch(2, { sql: 'a b', params: [] });
    await tick();
    takeEvents();
    database.ran.length = 0;
    database.numbers['b'] = 2;
    runner.touch({ tables: ['b'], changes: [] });
    await tick();
    expect(database.ran).toEqual(['a b']);
    expect(takeEvents()).toEqual(['2: 2']);
  });

  it('continues after a failed round, and reports the failure', async () => {
    const { runner, takeEvents, tick, problems, breakSending } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    breakSending(true);
    await tick();
    expect(problems).toEqual(['internal']);
    breakSending(false);
    await tick();
    expect(takeEvents()).toEqual([]);
    await tick(1_000);
    expect(takeEvents()).toEqual(['1: 1']);
  });

  it('sends an empty result after a failed round, because the page may show earlier rows', async () => {
    const { runner, takeEvents, tick, database, breakSending } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    takeEvents();
    breakSending(true);
    database.isEmpty = true;
    runner.touch({ tables: ['a'], changes: [] });
    await tick();
    breakSending(false);
    await tick(1_000);
    expect(takeEvents()).toEqual(['1: ']);
  });

  it('sends nothing if the result is the same', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    takeEvents();
    runner.touch({ tables: ['a'], changes: [] });
    await tick();
    expect(database.ran).toEqual(['a', 'a']);
    expect(takeEvents()).toEqual([]);
  });

  it('runs once for many commits in one tick', async () => {
    const { runner, tick, database } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    for (let i = 0; i < 10; i++) runner.touch({ tables: ['a'], changes: [] });
    await tick();
    expect(database.ran).toHaveLength(2);
  });

  it('runs when a commit may have been missed', async () => {
    const { runner, tick, database } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    runner.touch('all');
    await tick();
    expect(database.ran).toHaveLength(2);
  });

  it('computes its dependencies again if the schema may have changed', async () => {
    const { runner, tick, database } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    database.view = ['b'];
    runner.touch('all');
    await tick();
    runner.touch({ tables: ['b'], changes: [] });
    await tick();
    expect(database.ran).toHaveLength(3);
  });

  it('sends its first rows before its dependencies are known, and misses no commit in between', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    let learn = (): void => undefined;
    database.whenAsked = new Promise((resolve) => (learn = resolve));
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    expect(takeEvents()).toEqual(['1: 1']);
    database.numbers['a'] = 2;
    runner.touch({ tables: ['a'], changes: [] });
    learn();
    await tick();
    await tick();
    expect(takeEvents()).toEqual(['1: 2']);
    runner.touch({ tables: ['b'], changes: [] });
    await tick();
    expect(database.ran).toEqual(['a', 'a']);
  });

  it('discards dependencies if the schema changed while they were computed', async () => {
    const { runner, tick, database } = createWorld();
    let learn = (): void => undefined;
    database.whenAsked = new Promise((resolve) => (learn = resolve));
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    database.view = ['b'];
    runner.touch('all');
    learn();
    await tick();
    await tick();
    runner.touch({ tables: ['b'], changes: [] });
    await tick();
    expect(database.ran).toEqual(['a', 'a', 'a']);
  });

  it('sends an error as a value, once, and rows again after the next success', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    runner.watch(1, { sql: 'c', params: [] });
    await tick();
    runner.touch({ tables: ['c'], changes: [] });
    await tick();
    expect(takeEvents()).toEqual(['1: query-invalid']);
    database.numbers['c'] = 5;
    runner.touch({ tables: ['c'], changes: [] });
    await tick();
    expect(takeEvents()).toEqual(['1: 5']);
  });

  it('runs again a second after a temporary failure, and sends the error once', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    database.whenRead = Promise.reject(new RockpoolError('leader-unreachable'));
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    expect(takeEvents()).toEqual(['1: leader-unreachable']);
    await tick(999);
    await tick(1);
    await tick();
    expect(takeEvents()).toEqual([]);
    database.whenRead = Promise.resolve();
    await tick(999);
    expect(database.ran).toEqual([]);
    await tick(1);
    await tick();
    expect(takeEvents()).toEqual(['1: 1']);
    await tick(1_000);
    expect(database.ran).toEqual(['a']);
  });

  it('does not delay other queries because one keeps failing', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    database.outcome = (sql) =>
      sql === 'b'
        ? { error: new RockpoolError('leader-unreachable').toData() }
        : { rows: database.query(sql), tookMs: 0 };
    runner.watch(1, { sql: 'a', params: [] });
    runner.watch(2, { sql: 'b', params: [] });
    await tick();
    expect(takeEvents()).toEqual(['1: 1', '2: leader-unreachable']);
    database.numbers['a'] = 2;
    runner.touch({ tables: ['a'], changes: [] });
    await tick();
    expect(takeEvents()).toEqual(['1: 2']);
  });

  it('does not run without subscribers', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    runner.unwatch(1);
    await tick();
    runner.touch('all');
    await tick();
    expect(database.ran).toEqual([]);
    expect(takeEvents()).toEqual([]);
  });

  it('counts runs and wake-ups of each query', async () => {
    const { runner, tick } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    expect(runner.runs()).toMatchObject([{ queryId: 1, dependencies: null, wakeCount: 0, lastRunAtMs: null }]);
    await tick();
    runner.touch({ tables: ['a'], changes: [] });
    await tick();
    expect(runner.runs()).toMatchObject([
      { queryId: 1, dependencies: [{ table: 'a' }], wakeCount: 1, lastRunAtMs: expect.any(Number), lastRunMs: 0 },
    ]);
  });

  it('pauses for as long as it ran, so it takes at most half of the time', async () => {
    const { runner, tick, database } = createWorld();
    database.costMs = 200;
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    runner.touch({ tables: ['a'], changes: [] });
    await tick(199);
    expect(database.ran).toHaveLength(1);
    await tick(1);
    expect(database.ran).toHaveLength(2);
  });

  it('continues after the wall clock was set back', async () => {
    const { runner, tick, database, setWallClock } = createWorld();
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    setWallClock(-3_600_000);
    runner.touch({ tables: ['a'], changes: [] });
    await tick();
    expect(database.ran).toHaveLength(2);
  });

  it('pauses for a second at most, also after a round during which the device slept', async () => {
    const { runner, takeEvents, tick, database } = createWorld();
    const woken = Promise.withResolvers<void>();
    database.whenRead = woken.promise;
    runner.watch(1, { sql: 'a', params: [] });
    await tick();
    await tick(600_000);
    woken.resolve();
    await tick();
    expect(takeEvents()).toEqual(['1: 1']);
    database.numbers['a'] = 2;
    runner.touch({ tables: ['a'], changes: [] });
    await tick(1_000);
    expect(takeEvents()).toEqual(['1: 2']);
  });
});

it('a query with LIMIT that failed runs again for any row that it may have read', async () => {
  const database = openInMemory();
  let timers: (() => void)[] = [];
  const sent: string[] = [];
  const runner = createLiveRunner({
    reads: {
      queryAll: async (statements) => database.queryAll(statements, Number.POSITIVE_INFINITY) as QueryResult[],
      dependencies: async (statement) => database.dependencies(statement),
    },
    clock: { nowMs: () => 0, elapsedMs: () => 0, after: (_, callback) => (timers.push(callback), () => undefined) },
    onProblem: ({ code }) => expect.unreachable(code),
    send: (event) => {
      if (event.kind === 'live') for (const result of event.results) sent.push('error' in result ? 'error' : 'rows');
    },
  });
  const write = (sql: string): TouchedTables => {
    const { touchedTables: tables, changes } = database.write({ id: sql, statements: [{ sql, params: [] }] });
    return { tables, changes };
  };
  const run = async (): Promise<void> => {
    for (const timer of timers.splice(0)) timer();
    await new Promise((resolve) => setTimeout(resolve));
  };
  write("INSERT INTO account (id, name) VALUES ('a', '[1]'), ('c', '[2]'), ('e', 'no JSON')");
  runner.watch(1, { sql: 'SELECT id, name ->> 0 AS first FROM account ORDER BY id LIMIT 2', params: [] });
  await run();
  write("DELETE FROM account WHERE id = 'a'");
  runner.touch('all');
  await run();
  expect(sent).toEqual(['rows', 'error']);
  runner.touch(write("UPDATE account SET name = '[3]' WHERE id = 'e'"));
  await run();
  expect(sent).toEqual(['rows', 'error', 'rows']);
});

it('a query with LIMIT does not run again for changes beyond its last row, except while it is being run again', async () => {
  const database = openInMemory();
  const write = (sql: string): void => {
    const { touchedTables: tables, changes } = database.write({ id: sql, statements: [{ sql, params: [] }] });
    runner.touch({ tables, changes });
  };
  const results: string[] = [];
  const answers: (() => void)[] = [];
  let timers: (() => void)[] = [];
  const runner = createLiveRunner({
    reads: {
      queryAll: async (statements) => {
        const given = database.queryAll(statements, Number.POSITIVE_INFINITY) as QueryResult[];
        results.push(
          ...given.map((result) =>
            'rows' in result
              ? decodeRows(result.rows)
                  .map(({ id }) => id)
                  .join('')
              : 'error',
          ),
        );
        await new Promise<void>((resolve) => answers.push(resolve));
        return given;
      },
      dependencies: async (statement) => database.dependencies(statement),
    },
    clock: { nowMs: () => 0, elapsedMs: () => 0, after: (_, callback) => (timers.push(callback), () => undefined) },
    onProblem: () => undefined,
    send: () => undefined,
  });
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
  const run = async (): Promise<void> => {
    for (const timer of timers.splice(0)) timer();
    await settled();
  };
  const answer = async (): Promise<void> => {
    answers.shift()?.();
    await settled();
  };

  write("INSERT INTO account (id, name) VALUES ('a', 'a'), ('c', 'c'), ('e', 'e')");
  runner.watch(1, { sql: 'SELECT id FROM account ORDER BY id LIMIT 2', params: [] });
  await run();
  await answer();
  write("INSERT INTO account (id, name) VALUES ('f', 'f')");
  await run();
  expect(results).toEqual(['ac']);
  write("DELETE FROM account WHERE id = 'a'");
  await run();
  // This row is beyond the last row of the previous result, but not of the current one.
  write("INSERT INTO account (id, name) VALUES ('d', 'd')");
  await answer();
  await run();
  expect(results).toEqual(['ac', 'ce', 'cd']);
});
