import { buildSchema, RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { admitted, testSync, testDelivery, testGroup } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { account, openInMemory, testSchema } from '../../../testing/worker/test-database.ts';

const write = (database: OpenDatabase, id: string, ...statements: string[]): unknown =>
  database.write({ id, statements: statements.map((sql) => ({ sql, params: [] })) });
const undo = (database: OpenDatabase, undone: string, id = `undo ${undone}`): unknown =>
  database.write({ id, statements: [], action: { kind: 'undo', requestId: undone } });
const accounts = (database: OpenDatabase): unknown =>
  database.connection.rows('SELECT id, name, amount FROM account ORDER BY id');

function problemOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    if (error instanceof RockpoolError && error.code === 'undo-refused') return error.fields['problem'];
    throw error;
  }
  return null;
}

function withAccounts(): OpenDatabase {
  const database = openInMemory({ schema: testSchema });
  write(
    database,
    'setup',
    "INSERT INTO account (id, name, amount) VALUES ('a', 'x', 1), ('b', 'y', 2)",
    "INSERT INTO entry VALUES ('e', 'a', 'note')",
  );
  return database;
}

/** Delivers changes of another device. */
function fromElsewhere(database: OpenDatabase, sql: 'update name' | 'delete'): void {
  const groups = [
    sql === 'delete'
      ? testGroup('delete', account, [{ id: 'b' }])
      : testGroup('update', account, [{ id: 'b', name: 'theirs' }]),
  ];
  testSync(database).applyDelivery(testDelivery({ from: 0, to: 1, groups }));
}

describe('undoing a transaction', () => {
  it('undoes inserts, updates and deletes in one new changeset, and redoes them when that changeset is undone', () => {
    const database = withAccounts();
    const before = accounts(database);
    write(
      database,
      'w',
      "INSERT INTO account (id, name) VALUES ('c', 'z')",
      "UPDATE account SET name = 'new', amount = 5 WHERE id = 'a'",
      "DELETE FROM account WHERE id = 'b'",
    );
    const after = accounts(database);
    expect(undo(database, 'w')).toMatchObject({ sequence: 3, touchedTables: ['account'] });
    expect(accounts(database)).toEqual(before);
    undo(database, 'undo w');
    expect(accounts(database)).toEqual(after);
    expect(database.outbox.pendingCount()).toBe(4);
  });

  it('undoes cascading deletes and the effects of triggers', () => {
    const database = withAccounts();
    write(
      database,
      'trigger',
      "CREATE TRIGGER mark AFTER UPDATE OF amount ON account BEGIN UPDATE entry SET note = 'marked' WHERE account_id = new.id; END",
    );
    write(database, 'w', "UPDATE account SET amount = 9 WHERE id = 'a'");
    write(database, 'd', "DELETE FROM account WHERE id = 'a'");
    undo(database, 'd');
    expect(database.connection.rows('SELECT * FROM entry')).toEqual([['e', 'a', 'marked']]);
    undo(database, 'w');
    expect(database.connection.rows('SELECT note FROM entry')).toEqual([['note']]);
  });

  it('keeps later values of other columns', () => {
    const database = withAccounts();
    write(database, 'w', "UPDATE account SET amount = 7 WHERE id = 'b'");
    write(database, 'later', "UPDATE account SET name = 'kept' WHERE id = 'b'");
    undo(database, 'w');
    expect(database.connection.rows("SELECT name, amount FROM account WHERE id = 'b'")).toEqual([['kept', 2]]);
  });

  it('subtracts its additions to a counter, even if others have added since', () => {
    const tally = testTable(
      'tally',
      { id: 'text not null', n: 'integer not null' },
      { merge: { ...account.merge, counters: ['n'] } },
    );
    const database = openInMemory({ schema: buildSchema([tally]) });
    write(database, 'setup', "INSERT INTO tally VALUES ('t', 10)");
    write(database, 'w', 'UPDATE tally SET n = n + 5');
    write(database, 'later', 'UPDATE tally SET n = n + 100');
    undo(database, 'w');
    expect(database.connection.value('SELECT n FROM tally')).toBe(110);
  });

  it('is rejected if a written cell has been changed since, on any device, and changes nothing', () => {
    const database = withAccounts();
    write(
      database,
      'w',
      "UPDATE account SET name = 'mine' WHERE id = 'a'",
      "UPDATE account SET name = 'mine too' WHERE id = 'b'",
    );
    write(database, 'later', "UPDATE account SET name = 'later' WHERE id = 'b'");
    const now = accounts(database);
    expect(problemOf(() => undo(database, 'w'))).toBe('changed');
    expect(accounts(database)).toEqual(now);
    expect(database.outbox.pendingCount()).toBe(3);
  });

  it('is rejected if a row was deleted, exists again or is referred to by another row', () => {
    const database = withAccounts();
    write(database, 'w', "UPDATE account SET amount = 7 WHERE id = 'b'");
    write(database, 'd', "DELETE FROM account WHERE id = 'b'");
    expect(problemOf(() => undo(database, 'w'))).toBe('row-gone');
    write(database, 'again', "INSERT INTO account (id, name) VALUES ('b', 'another')");
    expect(problemOf(() => undo(database, 'd'))).toBe('row-back');
    write(database, 'parent', "INSERT INTO account (id, name) VALUES ('p', 'p')");
    write(database, 'child', "INSERT INTO entry VALUES ('f', 'p', '')");
    expect(problemOf(() => undo(database, 'parent'))).toBe('referred-to');
    undo(database, 'child');
    expect(problemOf(() => undo(database, 'parent', 'once more'))).toBe(null);
  });

  it('works beside a row whose parent was missing before', () => {
    const database = withAccounts();
    write(database, 'w', "UPDATE account SET amount = 7 WHERE id = 'a'");
    database.connection.setForeignKeys(false);
    database.connection.exec("INSERT INTO entry VALUES ('orphan', 'missing', '')");
    database.connection.setForeignKeys(true);
    undo(database, 'w');
    expect(database.connection.value("SELECT amount FROM account WHERE id = 'a'")).toBe(1);
  });

  it('undoes an insert of a row that has been deleted since', () => {
    const database = withAccounts();
    const before = accounts(database);
    write(
      database,
      'w',
      "INSERT INTO account (id, name) VALUES ('c', 'z')",
      "UPDATE account SET amount = 9 WHERE id = 'b'",
    );
    write(database, 'd', "DELETE FROM account WHERE id = 'c'");
    undo(database, 'w');
    expect(accounts(database)).toEqual(before);
  });

  it('is rejected if a constraint is violated', () => {
    const database = withAccounts();
    write(database, 'w', "UPDATE account SET name = 'free' WHERE id = 'b'");
    write(database, 'taken', "INSERT INTO account (id, name) VALUES ('c', 'y')");
    expect(problemOf(() => undo(database, 'w'))).toBe('constraint-unique');
  });

  it('leaves foreign keys and triggers in force for later writes, also if it is refused', () => {
    const database = withAccounts();
    write(
      database,
      'trigger',
      'CREATE TRIGGER mark AFTER UPDATE OF amount ON account BEGIN UPDATE entry SET note = new.amount WHERE account_id = new.id; END',
    );
    write(database, 'w', "UPDATE account SET name = 'free' WHERE id = 'b'");
    const later = (amount: number): void => {
      expect(() => write(database, `f${amount}`, "INSERT INTO entry VALUES ('f', 'missing', '')")).toThrow(
        expect.objectContaining({ code: 'constraint-foreign-key' }),
      );
      write(database, `u${amount}`, `UPDATE account SET amount = ${amount} WHERE id = 'a'`);
      expect(database.connection.value('SELECT note FROM entry')).toBe(String(amount));
    };
    undo(database, 'w');
    later(7);
    write(database, 'w2', "UPDATE account SET name = 'free' WHERE id = 'b'");
    write(database, 'taken', "INSERT INTO account (id, name) VALUES ('c', 'y')");
    expect(problemOf(() => undo(database, 'w2'))).toBe('constraint-unique');
    later(8);
  });

  it('undoes a swap of unique values, even between rows that are referred to', () => {
    const database = withAccounts();
    const before = accounts(database);
    write(
      database,
      'w',
      "UPDATE account SET name = 'free' WHERE id = 'a'",
      "UPDATE account SET name = 'x' WHERE id = 'b'",
      "UPDATE account SET name = 'y' WHERE id = 'a'",
    );
    undo(database, 'w');
    expect(accounts(database)).toEqual(before);
    expect(database.connection.rows('SELECT id, account_id FROM entry')).toEqual([['e', 'a']]);
  });

  it('works after edits and deletes of another device', () => {
    for (const [what, problem] of [
      ['update name', 'changed'],
      ['delete', 'row-gone'],
    ] as const) {
      const database = withAccounts();
      testSync(database).applyDelivery(
        testDelivery({
          from: 0,
          to: 0,
          lastAckedSequence: 1,
          outcomes: [{ kind: 'admitted', sequence: 1, watermark: 1, conflictCount: 0 }],
        }),
      );
      write(database, 'w', "UPDATE account SET name = 'mine' WHERE id = 'b'");
      database.outbox.markAcknowledged(2, Date.now());
      fromElsewhere(database, what);
      expect(
        problemOf(() => undo(database, 'w')),
        what,
      ).toBe(problem);
    }
  });

  it('reports a missing transaction', () => {
    const database = withAccounts();
    expect(problemOf(() => undo(database, 'never'))).toBe('forgotten');
    write(database, 'local', "INSERT INTO draft (text) VALUES ('x')");
    expect(problemOf(() => undo(database, 'local'))).toBe('nothing');
  });

  it('reports a transaction that the server has rejected, whose changes are not in the tables', () => {
    const database = withAccounts();
    write(database, 'w', "UPDATE account SET amount = 3 WHERE id = 'a'");
    const rejected = { kind: 'rejected', code: 'constraint-check', fields: {}, sequence: 2 } as const;
    testSync(database).applyDelivery(
      testDelivery({ to: 1, lastAckedSequence: 2, outcomes: [...admitted(1, 1), rejected] }),
    );
    expect(problemOf(() => undo(database, 'w'))).toBe('rejected');
  });

  it('takes effect once, however often it is requested', () => {
    const database = withAccounts();
    write(database, 'w', "INSERT INTO account (id, name) VALUES ('c', 'z')");
    undo(database, 'w', 'u');
    expect(undo(database, 'w', 'u')).toMatchObject({ repeated: true });
    expect(database.connection.value('SELECT count(*) FROM account')).toBe(2);
  });
});
