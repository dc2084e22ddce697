import { buildSchema } from '@rockpool/shared';
import { expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { admitted, testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const account = testTable('account', { id: 'text not null', name: 'text' }, { uniques: [['name']] });
const entry = testTable(
  'entry',
  { id: 'text not null', account_id: 'text' },
  {
    foreignKeys: [
      {
        columns: ['account_id'],
        foreignTable: 'account',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
  },
);
const seen = testTable('seen', { id: 'integer', account_id: 'text' }, { synced: false });

let requests = 0;

function write(database: OpenDatabase, ...statements: readonly string[]): void {
  database.write({ id: `w${++requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

/** Two delivered accounts with an entry each, and a trigger of the app. */
function filled(): { readonly database: OpenDatabase; readonly sync: ReturnType<typeof testSync> } {
  const database = openInMemory({ schema: buildSchema([account, entry, seen]) });
  const sync = testSync(database);
  database.connection.exec(
    'CREATE TRIGGER account_seen AFTER INSERT ON account BEGIN INSERT INTO seen (account_id) VALUES (new.id); END',
  );
  sync.greet(testWelcome());
  const groups = [
    testGroup('insert', entry, [
      { id: 'e', account_id: 'a' },
      { id: 'f', account_id: 'b' },
    ]),
    testGroup('insert', account, [
      { id: 'a', name: 'Cash' },
      { id: 'b', name: 'Bank' },
    ]),
  ];
  sync.applyDelivery(testDelivery({ to: 1, groups }));
  return { database, sync };
}

const rows = (database: OpenDatabase, sql: string): unknown[][] => database.connection.rows(sql);

it('a delivery runs no triggers and no foreign-key actions, while later writes of the app run both', () => {
  const { database, sync } = filled();
  expect(rows(database, 'SELECT account_id FROM seen')).toEqual([]);
  // The server delivers cascading deletes itself, in this delivery or a later one.
  sync.applyDelivery(testDelivery({ from: 1, to: 2, groups: [testGroup('delete', account, [{ id: 'a' }])] }));
  expect(rows(database, 'SELECT id FROM entry ORDER BY id')).toEqual([['e'], ['f']]);
  write(database, "INSERT INTO account (id, name) VALUES ('c', 'Card')", "DELETE FROM account WHERE id = 'b'");
  expect(rows(database, 'SELECT account_id FROM seen')).toEqual([['c']]);
  expect(rows(database, 'SELECT id FROM entry ORDER BY id')).toEqual([['e']]);
  database.close();
});

it('a delivery swaps unique values between rows', () => {
  const { database, sync } = filled();
  sync.applyDelivery(
    testDelivery({
      from: 1,
      to: 2,
      groups: [
        testGroup('update', account, [
          { id: 'a', name: 'Bank' },
          { id: 'b', name: 'Cash' },
        ]),
      ],
    }),
  );
  expect(rows(database, 'SELECT id, name FROM account ORDER BY id')).toEqual([
    ['a', 'Bank'],
    ['b', 'Cash'],
  ]);
  expect(rows(database, 'SELECT id FROM entry ORDER BY id')).toEqual([['e'], ['f']]);
  database.close();
});

it('a delivery that only admits changesets gives the same result as one applied row by row', () => {
  const results = [false, true].map((slow) => {
    const { database, sync } = filled();
    write(database, "UPDATE account SET name = 'Purse' WHERE id = 'a'");
    write(database, "DELETE FROM account WHERE id = 'b'");
    // Another site's change of the row rules out the fast path.
    if (slow)
      sync.applyDelivery(
        testDelivery({ from: 1, to: 2, groups: [testGroup('update', account, [{ id: 'a', name: 'Till' }])] }),
      );
    sync.applyDelivery(testDelivery({ from: slow ? 2 : 1, to: 4, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
    const result = [
      rows(database, 'SELECT id, name FROM account'),
      rows(database, 'SELECT id FROM entry'),
      rows(database, 'SELECT count(*) FROM rockpool_base'),
      sync.position().cursor,
      sync.counts(),
    ];
    database.close();
    return result;
  });
  expect(results[1]).toEqual(results[0]);
  expect(results[0]?.[0]).toEqual([['a', 'Purse']]);
});

it('a delivery that does not continue the cursor changes nothing', () => {
  const { database, sync } = filled();
  const ahead = testDelivery({ from: 5, to: 6, groups: [testGroup('delete', account, [{ id: 'a' }])] });
  expect(() => sync.applyDelivery(ahead)).toThrow(expect.objectContaining({ code: 'frame-unexpected' }));
  expect(rows(database, 'SELECT count(*) FROM account')).toEqual([[2]]);
  expect(sync.position().cursor).toBe(1);
  database.close();
});
