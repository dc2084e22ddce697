import { buildSchema, columnIdOf, RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const schema = buildSchema([
  testTable(
    'page',
    {
      id: 'text not null',
      title: 'text',
      hits: 'integer not null default 0',
      amount: 'integer',
      currency: 'text',
      note: 'text',
    },
    {
      merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [['amount', 'currency']], documents: [] },
    },
  ),
  // A table to which triggers write.
  testTable(
    'priced',
    { id: 'text not null', hits: 'integer not null default 0', double: 'integer as hits*2 stored' },
    {
      merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [], documents: [] },
    },
  ),
]);

let requests = 0;

function open(): OpenDatabase {
  const database = openInMemory({ schema });
  write(
    database,
    "INSERT INTO page (id, hits, amount, currency) VALUES ('a', 5, 10, 'EUR'), ('b', 6, 20, 'USD')",
    "INSERT INTO priced (id, hits) VALUES ('p', 7)",
  );
  return database;
}

function write(database: OpenDatabase, ...statements: readonly string[]): void {
  database.write({ id: `m${++requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

/** Changes and old values of the newest changeset, by column name, one entry per group. */
function last(database: OpenDatabase): unknown[] {
  const changeset = database.changelog.read(database.changelog.head().sequence);
  const nameOf = (id: number): string =>
    ['title', 'hits', 'amount', 'currency', 'note'].find((name) => columnIdOf(name) === id) ?? String(id);
  const named = ({
    columnIds,
    values,
  }: {
    columnIds: readonly number[];
    values: readonly (readonly unknown[])[];
  }): unknown => Object.fromEntries(columnIds.map((id, index) => [nameOf(id), values[index]]));
  return (
    changeset?.groups.map((group, index) => [
      group.kind,
      group.keys[0],
      named(group),
      named(changeset.before[index] ?? { columnIds: [], values: [] }),
    ]) ?? []
  );
}

function failure(action: () => unknown): RockpoolError {
  try {
    action();
  } catch (error) {
    if (error instanceof RockpoolError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a counter', () => {
  it('is captured as a delta with its old value in an update, and as a value in an insert', () => {
    const database = open();
    write(database, "UPDATE page SET hits = hits + 3, note = 'n' WHERE id = 'a'");
    expect(last(database)).toEqual([['update', ['a'], { hits: [3n], note: ['n'] }, { hits: [5n], note: [null] }]]);
    write(database, "UPDATE page SET hits = 1 WHERE id = 'a'", "UPDATE page SET hits = hits + 1 WHERE id = 'a'");
    expect(last(database)).toEqual([['update', ['a'], { hits: [-6n] }, { hits: [8n] }]]);
    write(database, "UPDATE priced SET hits = hits - 9 WHERE id = 'p'");
    expect(last(database)).toEqual([['update', ['p'], { hits: [-9n] }, { hits: [7n] }]]);
    write(database, "INSERT INTO page (id, hits) VALUES ('c', 40)");
    expect(last(database)).toMatchObject([['insert', ['c'], { hits: [40n] }, {}]]);
    database.close();
  });

  it('rejects a write that would make it anything but a 64-bit integer, and names table and column [MR-10]', () => {
    const database = open();
    const notInteger = {
      code: 'value-invalid',
      fields: { problem: 'counter-not-integer', table: 'page', column: 'hits' },
    };
    expect(failure(() => write(database, "UPDATE page SET hits = 1.5 WHERE id = 'a'"))).toMatchObject(notInteger);
    expect(failure(() => write(database, "UPDATE page SET hits = 'many' WHERE id = 'a'"))).toMatchObject(notInteger);
    expect(failure(() => write(database, "INSERT INTO page (id, hits) VALUES ('d', 1.5)"))).toMatchObject(notInteger);
    write(database, "UPDATE page SET hits = -2 WHERE id = 'a'");
    expect(failure(() => write(database, "UPDATE page SET hits = 9223372036854775807 WHERE id = 'a'"))).toMatchObject({
      code: 'value-invalid',
      fields: { problem: 'counter-range', table: 'page', column: 'hits' },
    });
    expect(database.connection.rows('SELECT id, hits FROM page ORDER BY id')).toEqual([
      ['a', -2],
      ['b', 6],
    ]);
    database.close();
  });
});

describe('a group of columns', () => {
  it('is captured as a whole when one of its columns changes [MR-08]', () => {
    const database = open();
    write(
      database,
      "UPDATE page SET amount = amount + 1 WHERE id IN ('a', 'b')",
      "UPDATE page SET note = 'n' WHERE id = 'b'",
    );
    const [, , ...rest] = last(database);
    expect(rest).toEqual([]);
    expect(last(database)).toEqual(
      expect.arrayContaining([
        ['update', ['a'], { amount: [11n], currency: ['EUR'] }, { amount: [10n], currency: ['EUR'] }],
        [
          'update',
          ['b'],
          { amount: [21n], currency: ['USD'], note: ['n'] },
          { amount: [20n], currency: ['USD'], note: [null] },
        ],
      ]),
    );
    write(database, "UPDATE page SET title = 't' WHERE id = 'a'");
    expect(last(database)).toEqual([['update', ['a'], { title: ['t'] }, { title: [null] }]]);
    database.close();
  });
});

describe('a rejected change of a counter', () => {
  it('is added to the current value when retried', () => {
    const database = open();
    write(database, "UPDATE page SET hits = hits + 3, note = 'again' WHERE id = 'a'");
    database.connection.exec("UPDATE page SET hits = 100, note = NULL WHERE id = 'a'");
    database.rejected.add(2, new RockpoolError('constraint-check').toData(), 1);
    database.outbox.markAcknowledged(2, 1);
    database.retryRejected(2);
    expect(database.connection.rows("SELECT hits, note FROM page WHERE id = 'a'")).toEqual([[103, 'again']]);
    expect(last(database)).toEqual([
      ['update', ['a'], { hits: [3n], note: ['again'] }, { hits: [100n], note: [null] }],
    ]);
    database.close();
  });
});
