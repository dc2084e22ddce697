import fc from 'fast-check';
import { keyColumns, syncedTables, SYSTEM_TABLES, valueColumns, type CellValue, type Schema } from '@rockpool/shared';
import { expect } from 'vitest';
import { LiveDatabase } from '../src/database/live-database.ts';
import type { Retention } from '../src/log/retention.ts';
import { openDatabaseFile, type DatabaseFile } from '../src/store/database-file.ts';
import { insert, remove, update, type Change } from './changeset.ts';
import { DirectSession, untilCommitted } from './direct-session.ts';
import { Replica, rowNameOf } from './replica.ts';
import { TEST_SCHEMA } from './test-schema.ts';

/*
 * Random histories of a few clients on one server file: they write, push parts of their outbox (repeatedly), lose
 * connections with deliveries in flight, reconnect, perhaps after the server has pruned tombstones, and apply
 * deliveries at random times. In the end all of them sync.
 */

const REPLICAS = 3;
const STEP_MS = 7;
const YEAR_MS = 365 * 24 * 3600 * 1000;

// Few keys, so that the clients write to the same rows.
const keys = fc.constantFrom('a', 'b');
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .tuple(keys, fc.constantFrom('Cash', 'Bank', 'Card'), fc.bigInt(0n, 3n))
      .map(([key, name, rank]) => insert('accounts', key, { name, rank })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(keys, fc.constantFrom('Cash', 'Bank', 'Card'))
      .map(([key, name]) => update('accounts', key, { name })),
  },
  { weight: 2, arbitrary: fc.tuple(keys, fc.bigInt(0n, 9n)).map(([key, rank]) => update('accounts', key, { rank })) },
  { weight: 1, arbitrary: keys.map((key) => remove('accounts', key)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(keys, fc.option(keys), fc.bigInt(0n, 9n))
      .map(([key, account_id, amount]) => insert('entries', key, { account_id, amount })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(keys, fc.constantFrom('x', 'y', null), fc.bigInt(0n, 1_000_001n))
      .map(([key, note, amount]) => update('entries', key, { note, amount })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        keys,
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((real) => real + 0),
      )
      .map(([key, weight]) => update('entries', key, { weight })),
  },
  { weight: 2, arbitrary: keys.map((key) => remove('entries', key)) },
  { weight: 1, arbitrary: keys.map((key) => insert('labels', [key, 1n], {})) },
  { weight: 1, arbitrary: keys.map((key) => remove('labels', [key, 1n])) },
  { weight: 3, arbitrary: fc.tuple(keys, keys).map(([key, entry_id]) => insert('splits', key, { entry_id })) },
  { weight: 1, arbitrary: fc.tuple(keys, keys).map(([key, entry_id]) => update('splits', key, { entry_id })) },
  { weight: 1, arbitrary: fc.tuple(keys, fc.bigInt(0n, 9n)).map(([key, share]) => update('splits', key, { share })) },
  { weight: 1, arbitrary: keys.map((key) => remove('splits', key)) },
  { weight: 2, arbitrary: fc.tuple(keys, fc.bigInt(0n, 9n)).map(([key, stock]) => insert('products', key, { stock })) },
  {
    weight: 3,
    arbitrary: fc.tuple(keys, fc.bigInt(-9n, 9n)).map(([key, stock]) => update('products', key, { stock })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(keys, fc.bigInt(1n, 9n), fc.constantFrom('EUR', 'DKK'))
      .map(([key, price, currency]) => update('products', key, { price, currency })),
  },
  { weight: 1, arbitrary: keys.map((key) => remove('products', key)) },
  { weight: 1, arbitrary: keys.map((key) => insert('notes', key, { title: 'new', reads: 0n })) },
  {
    weight: 3,
    arbitrary: fc.tuple(keys, fc.constantFrom('x', 'y')).map(([key, title]) => update('notes', key, { title })),
  },
  { weight: 2, arbitrary: keys.map((key) => update('notes', key, { reads: 1n })) },
  { weight: 2, arbitrary: keys.map((key) => remove('notes', key)) },
  { weight: 2, arbitrary: fc.tuple(keys, keys).map(([key, note_id]) => insert('comments', key, { note_id })) },
  { weight: 1, arbitrary: fc.tuple(keys, keys).map(([key, note_id]) => update('comments', key, { note_id })) },
  { weight: 1, arbitrary: keys.map((key) => update('comments', key, { body: 'edited' })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(keys, fc.constantFrom('Cash', 'Bank', 'Card'))
      .map(([key, account_name]) => insert('cards', key, { account_name })),
  },
);

/** One change per row, like capture produces. */
const changes = fc.uniqueArray(change, {
  minLength: 1,
  maxLength: 3,
  selector: (one) =>
    ('insert' in one ? one.insert : 'update' in one ? one.update : one.delete) + JSON.stringify(one.key.map(String)),
});

export type Step =
  | { readonly does: 'write'; readonly changes: readonly Change[]; readonly ageMs: number; readonly atomic: boolean }
  | { readonly does: 'connect' | 'disconnect' | 'apply' | 'confirm' | 'commit' | 'sync' }
  | { readonly does: 'push'; readonly again: number; readonly count: number };

export interface TakenStep {
  readonly who: number;
  readonly step: Step;
}

const step: fc.Arbitrary<TakenStep> = fc.record({
  who: fc.nat(REPLICAS - 1),
  step: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ does: fc.constant('write' as const), changes, ageMs: fc.nat(5000), atomic: fc.boolean() }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        does: fc.constant('push' as const),
        again: fc.nat(2),
        count: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ does: 'sync' as const }) },
    {
      weight: 7,
      arbitrary: fc.record({
        does: fc.constantFrom(
          'connect' as const,
          'apply' as const,
          'apply' as const,
          'commit' as const,
          'confirm' as const,
          'disconnect' as const,
        ),
      }),
    },
  ),
});

export interface History {
  /** How far each client's clock is ahead, in ms. */
  readonly clocks: readonly number[];
  /** The server's retention of tombstones and conflicts. A step takes STEP_MS. */
  readonly retention: Retention;
  readonly steps: readonly TakenStep[];
}

export const history: fc.Arbitrary<History> = fc.record({
  clocks: fc.array(fc.integer({ min: -YEAR_MS, max: YEAR_MS }), { minLength: REPLICAS, maxLength: REPLICAS }),
  retention: fc.record({
    tombstonesMs: fc.constantFrom(1, 10 * STEP_MS, YEAR_MS),
    conflictsMs: fc.constantFrom(10 * STEP_MS, YEAR_MS),
    maxConflicts: fc.constantFrom(3, 1000),
  }),
  steps: fc.array(step, { minLength: 10, maxLength: 120, size: 'max' }),
});

/**
 * Runs a history, syncs all clients, and compares all copies with the server's rows. `watch` gets the server's
 * file first; its return value is called in the end.
 */
export async function checkConvergence(
  { clocks, retention, steps }: History,
  {
    schema = TEST_SCHEMA,
    watch,
  }: { readonly schema?: Schema; readonly watch?: (file: DatabaseFile) => () => void } = {},
): Promise<void> {
  const failures: unknown[] = [];
  const file = openDatabaseFile(':memory:', schema);
  const checkAtEnd = watch?.(file);
  const database = new LiveDatabase(file, {
    retention,
    onFailure: (error) => void failures.push(error),
  });
  const world = new World(database, clocks);
  try {
    for (const { who, step: one } of steps) await world.take(who, one);
    await world.settle();
    const rows = serverRows(database);
    expect(sorted(world.newcomer().visible())).toEqual(rows);
    for (const replica of world.replicas) {
      expect(replica.hasPending).toBe(false);
      expect(sorted(replica.visible())).toEqual(rows);
      // Checks that each changeset was decided exactly once.
      expect(replica.outcomes.map(({ sequence }) => sequence)).toEqual(
        replica.site.changelog.map(({ sequence }) => sequence),
      );
    }
    expect(failures).toEqual([]);
    checkAtEnd?.();
    const admitted = world.replicas.flatMap(({ outcomes }) =>
      outcomes.flatMap((outcome) => (outcome.kind === 'admitted' ? [outcome.watermark] : [])),
    );
    expect(admitted.sort((a, b) => a - b)).toEqual(
      Array.from({ length: database.file.log.watermark }, (_, i) => i + 1),
    );
  } finally {
    void database.close();
  }
}

class World {
  readonly replicas: readonly Replica[];
  private readonly database: LiveDatabase;
  private readonly sessions: (DirectSession | null)[];
  private nowMs = 1_700_000_000_000;

  constructor(database: LiveDatabase, clocks: readonly number[]) {
    this.database = database;
    this.replicas = clocks.map((clockAheadMs) => {
      const replica = new Replica();
      replica.site.nowMs = () => this.nowMs + clockAheadMs;
      replica.site.clockAheadMs = clockAheadMs;
      return replica;
    });
    this.sessions = clocks.map(() => null);
  }

  async take(who: number, one: Step): Promise<void> {
    this.nowMs += STEP_MS;
    const replica = this.replicas[who] as Replica;
    const session = this.sessions[who] ?? null;
    switch (one.does) {
      case 'write':
        replica.write(possibleChanges(replica, one.changes), one.ageMs, one.atomic);
        break;
      case 'commit':
        await untilCommitted();
        break;
      case 'connect':
        this.sessions[who] ??= new DirectSession(this.database, replica, this.nowMs);
        break;
      case 'disconnect':
        session?.leave();
        this.sessions[who] = null;
        break;
      case 'apply':
        session?.applyOne();
        break;
      case 'confirm':
        session?.confirm();
        break;
      case 'sync':
        await this.sync(who);
        break;
      case 'push': {
        const from = Math.max(1, replica.site.lastAckedSequence + 1 - one.again);
        session?.push(
          from,
          Math.min(replica.site.changelog.length, replica.site.lastAckedSequence + one.count),
          this.nowMs,
        );
      }
    }
    expect(this.sessions[who]?.failure ?? null).toBeNull();
  }

  async settle(): Promise<void> {
    for (const who of this.replicas.keys()) await this.sync(who);
    for (const session of this.sessions) session?.applyAll();
  }

  /** A client without state gets a full resync. */
  newcomer(): Replica {
    const replica = new Replica();
    new DirectSession(this.database, replica, this.nowMs).applyAll();
    return replica;
  }

  private async sync(who: number): Promise<void> {
    const replica = this.replicas[who] as Replica;
    const session = (this.sessions[who] ??= new DirectSession(this.database, replica, this.nowMs));
    session.applyAll();
    session.push(replica.site.lastAckedSequence + 1, replica.site.changelog.length, this.nowMs);
    await untilCommitted();
    session.applyAll();
  }
}

/** Keeps only changes that SQL could have made: no insert of an existing row, no update or delete of a missing one. */
function possibleChanges(replica: Replica, wanted: readonly Change[]): Change[] {
  const rows = replica.visible();
  return wanted.filter((one) => {
    const table = 'insert' in one ? one.insert : 'update' in one ? one.update : one.delete;
    const isThere = rows.has(rowNameOf(TEST_SCHEMA.tables.find(({ name }) => name === table)?.id ?? 0, one.key));
    return 'insert' in one ? !isThere : isThere;
  });
}

function serverRows({ file }: LiveDatabase): [string, [number, CellValue][]][] {
  return sorted(rowsOf(file));
}

/** All rows of a file, by name. */
export function rowsOf(file: DatabaseFile): Map<string, Map<number, CellValue>> {
  const rows = new Map<string, Map<number, CellValue>>();
  for (const table of [...syncedTables(TEST_SCHEMA), ...SYSTEM_TABLES]) {
    const columns = [...keyColumns(table), ...valueColumns(table)];
    for (const row of file.sql.all(
      `SELECT ${columns.map(({ name }) => `"${name}"`).join(', ')} FROM "${table.name}"`,
    )) {
      const key = row.slice(0, table.primaryKey.length);
      rows.set(
        rowNameOf(table.id, key),
        new Map(valueColumns(table).map(({ id }, i) => [id, row[key.length + i] ?? null])),
      );
    }
  }
  return rows;
}

function sorted(rows: ReadonlyMap<string, ReadonlyMap<number, CellValue>>): [string, [number, CellValue][]][] {
  return [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, cells]) => [name, [...cells].sort(([a], [b]) => a - b)]);
}
