import type { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import type { TouchedTables } from '../../rpc/query-dependencies.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { startSearchUpkeep, type SearchUpkeep } from './search-upkeep.ts';

const MINUTE_MS = 60_000;

interface World {
  readonly upkeep: SearchUpkeep;
  readonly found: () => unknown;
  readonly damage: () => void;
  readonly commits: TouchedTables[];
  readonly problems: RockpoolError[];
  pass(durationMs: number): void;
}

/** A database without sync. */
function createWorld(): World {
  const database = openInMemory();
  const [commits, problems]: [TouchedTables[], RockpoolError[]] = [[], []];
  const time = { nowMs: 0 };
  const timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>();
  const clock = {
    nowMs: () => time.nowMs,
    elapsedMs: () => time.nowMs,
    after(delayMs: number, callback: () => void) {
      const timer = { dueMs: time.nowMs + delayMs, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  database.write({
    id: 'first',
    statements: [{ sql: "INSERT INTO entry (id, note) VALUES ('a', 'heron')", params: [] }],
  });
  const upkeep = startSearchUpkeep(
    {
      database,
      inTurn: (job) => job(),
      publishCommit: (touched) => commits.push(touched),
      publishProblem: (error) => problems.push(error),
    },
    clock,
  );
  return {
    upkeep,
    commits,
    problems,
    found: () => database.connection.value("SELECT count(*) FROM entry_search WHERE entry_search MATCH 'heron'"),
    damage: () => database.connection.run("INSERT INTO entry_search (entry_search) VALUES ('delete-all')"),
    pass(durationMs) {
      time.nowMs += durationMs;
      for (const timer of timers) {
        if (timer.dueMs > time.nowMs || !timers.delete(timer)) continue;
        timer.callback();
      }
    },
  };
}

it('a search index that differs from its rows is rebuilt and reported in the first quiet moment', () => {
  const { damage, found, pass, commits, problems } = createWorld();
  damage();
  expect(found()).toBe(0);
  pass(MINUTE_MS);
  expect([found(), commits]).toEqual([1, [{ tables: ['entry'], changes: [] }]]);
  expect(problems.map((problem) => problem.toData())).toMatchObject([
    { code: 'search-index-damaged', fields: { table: 'entry', index: 'entry_search' } },
  ]);
});

it('search indexes are checked once commits have stopped, and again an hour later', () => {
  const { upkeep, damage, found, pass, problems } = createWorld();
  damage();
  for (let times = 0; times < 10; times++) {
    pass(15_000);
    if (times % 2 === 0) upkeep.onLocalCommit();
    else upkeep.onDelivery();
  }
  expect(found()).toBe(0);
  pass(MINUTE_MS);
  expect(found()).toBe(1);
  damage();
  pass(MINUTE_MS);
  expect(found()).toBe(0);
  pass(60 * MINUTE_MS);
  expect([found(), problems.length]).toEqual([1, 2]);
});

it('search indexes are not checked after stop', async () => {
  const { upkeep, damage, found, pass } = createWorld();
  damage();
  await upkeep.stop();
  upkeep.onLocalCommit();
  pass(MINUTE_MS);
  expect(found()).toBe(0);
});
