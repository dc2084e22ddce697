import { loadSqlite } from '../../packages/client/src/worker/sqlite/load-sqlite.node.ts';
import type { SqliteRuntime } from '../../packages/client/src/worker/sqlite/sqlite-runtime.ts';
import { LiveDatabase } from '../../packages/sync-server/src/fanout/live-database.ts';
import { openDatabaseFile } from '../../packages/sync-server/src/store/database-file.ts';
import { budgetSchema } from './budget-schema.ts';
import { Random } from '../simulation/random.ts';
import { NO_FAULTS, Replica, type Faults } from './replica.ts';

export const runtime: SqliteRuntime = await loadSqlite();

/** How often what happened: a history in which nothing goes wrong proves little. */
export interface Tally {
  writes: number;
  refusedHere: number;
  exchanges: number;
  cuts: number;
  lostReplies: number;
  doubledPushes: number;
  rejected: number;
  conflicts: number;
  withheld: number;
}

export function emptyTally(): Tally {
  return { writes: 0, refusedHere: 0, exchanges: 0, cuts: 0, lostReplies: 0, doubledPushes: 0, rejected: 0, conflicts: 0, withheld: 0 };
}

const YEAR_MS = 365 * 24 * 3600 * 1000;
const STEPS = 90;
const HEALING_EXCHANGES = 20;

export interface Ended {
  readonly replicas: readonly Replica[];
  readonly server: LiveDatabase;
}

/** One random history of some devices and a server, then a calm network. The same seed makes the same history. */
export async function runHistory(seed: number, tally: Tally): Promise<Ended> {
  const random = new Random(seed);
  const server = new LiveDatabase(openDatabaseFile(':memory:', budgetSchema), {
    onFailure: (error) => {
      throw error;
    },
  });
  const clock = { ms: 1_763_683_200_000 };
  const replicas = Array.from({ length: 2 + random.below(3) }, () => new Replica({ runtime, random, clock, offsetMs: random.pick([0, 0, YEAR_MS, -YEAR_MS, 1234]) }));
  for (let step = 0; step < STEPS; step++) {
    clock.ms += random.pick([0, 0, 1, random.below(2000)]);
    const replica = random.pick(replicas);
    if (random.chance(0.7)) {
      if (writeSomething(replica, random, step)) tally.writes++;
      else tally.refusedHere++;
      continue;
    }
    const faults: Faults = {
      cutAfter: random.chance(0.2) ? random.below(3) : Infinity,
      pushTwice: random.chance(0.2),
      loseReply: random.chance(0.2),
    };
    tally.exchanges++;
    if (faults.cutAfter !== Infinity) tally.cuts++;
    if (faults.loseReply) tally.lostReplies++;
    if (faults.pushTwice) tally.doubledPushes++;
    await replica.exchange(server, faults);
    tally.withheld += replica.database.connection.value('SELECT count(*) FROM rockpool_parked WHERE sequence > (SELECT coalesce(max(up_to), 0) FROM rockpool_decided)') as number;
  }
  for (let round = 0; round < HEALING_EXCHANGES; round++) for (const replica of replicas) await replica.exchange(server, NO_FAULTS);
  for (const replica of replicas) tally.rejected += replica.database.parked.count();
  tally.conflicts += Number(Object.values(server.file.sql.get('SELECT count(*) FROM rockpool_conflict') ?? [0])[0]);
  return { replicas, server };
}

function writeSomething(replica: Replica, random: Random, step: number): boolean {
  const existing = (table: string): string | null => {
    const ids = replica.rows(`SELECT id FROM ${table} ORDER BY id`).flat() as string[];
    return ids.length === 0 ? null : random.pick(ids);
  };
  const account = existing('account');
  const entry = existing('entry');
  const name = random.pick(['Cash', 'Bank', 'Card', 'Savings', 'Brötchen']);
  const newId = `${replica.site.slice(0, 4)}-${step}`;
  switch (random.below(11)) {
    case 0:
      return replica.write({ sql: 'INSERT INTO account (id, name, rate, picture) VALUES (?, ?, ?, ?)', params: [newId, name, random.next(), random.bytes(3)] });
    case 1:
      return account !== null && replica.write({ sql: 'UPDATE account SET name = ? WHERE id = ?', params: [name, account] });
    case 2:
      return account !== null && replica.write({ sql: 'UPDATE account SET rate = ? WHERE id = ?', params: [random.below(3), account] });
    case 3:
      return account !== null && random.chance(0.4) && replica.write({ sql: 'DELETE FROM account WHERE id = ?', params: [account] });
    case 4:
    case 5:
      return account !== null && replica.write({ sql: 'INSERT INTO entry (id, account_id, amount) VALUES (?, ?, ?)', params: [newId, account, random.below(50)] });
    case 6:
      return entry !== null && replica.write({ sql: 'UPDATE entry SET amount = amount + ? WHERE id = ?', params: [random.below(400), entry] });
    case 7:
      return entry !== null && replica.write({ sql: 'UPDATE entry SET note = ?, account_id = ? WHERE id = ?', params: [name, account ?? '', entry] });
    case 8:
      return entry !== null && random.chance(0.5) && replica.write({ sql: 'DELETE FROM entry WHERE id = ?', params: [entry] });
    case 9: {
      const [month, slot] = [random.pick(['2026-10', '2026-11']), random.below(3)];
      return replica.write({ sql: 'INSERT OR REPLACE INTO goal (month, slot, amount, note) VALUES (?, ?, ?, ?)', params: [month, slot, random.below(5), random.pick([null, 'x', 'y'])] });
    }
    default:
      return swapNames(replica, random);
  }
}

/** Two rows exchange a unique value in one transaction: whoever applies it meets both in the way of each other. */
function swapNames(replica: Replica, random: Random): boolean {
  const rows = replica.rows('SELECT id, name FROM account ORDER BY id') as [string, string][];
  if (rows.length < 2) return random.chance(0.5) && replica.write({ sql: 'DELETE FROM goal WHERE slot = ?', params: [random.below(3)] });
  const [a, b] = [random.pick(rows), random.pick(rows)];
  if (a[0] === b[0]) return false;
  return replica.write(
    { sql: 'UPDATE account SET name = ? WHERE id = ?', params: ['(moving)', a[0]] },
    { sql: 'UPDATE account SET name = ? WHERE id = ?', params: [a[1], b[0]] },
    { sql: 'UPDATE account SET name = ? WHERE id = ?', params: [b[1], a[0]] },
  );
}
