import { buildSchema, RockpoolError, type TableSchema } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const reason = new RockpoolError('constraint-unique', { table: 'account', columns: 'name' }).toData();

let requests = 0;

function write(database: OpenDatabase, ...statements: readonly string[]): void {
  database.write({ id: `p${++requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

function rejectAsServer(database: OpenDatabase, sequence: number): void {
  database.rejected.add(sequence, reason, 1000);
  database.outbox.markAcknowledged(database.changelog.head().sequence, 1000);
}

/** A rejected changeset whose rows are no longer in the tables. */
function withRejected(): OpenDatabase {
  const database = openInMemory();
  write(database, "INSERT INTO account (id, name) VALUES ('old', 'x')");
  write(
    database,
    "INSERT INTO account (id, name) VALUES ('a', 'Cash')",
    "UPDATE account SET amount = 7 WHERE id = 'old'",
  );
  database.connection.exec("DELETE FROM account WHERE id = 'a'; UPDATE account SET amount = NULL");
  rejectAsServer(database, 2);
  return database;
}

describe('a rejected changeset', () => {
  it('is listed with its reason and its rows', () => {
    const database = withRejected();
    expect(database.rejected.count()).toBe(1);
    const [rejected] = database.rejected.list();
    expect(rejected?.error).toEqual(reason);
    expect(rejected?.rejectedMs).toBe(1000);
    expect(rejected?.changeset.groups.map(({ kind, keys }) => [kind, keys])).toEqual([
      ['update', [['old']]],
      ['insert', [['a']]],
    ]);
    database.rejected.add(2, new RockpoolError('internal').toData(), 2000);
    expect(database.rejected.list()[0]?.error.code).toBe('constraint-unique');
    database.close();
  });

  it('becomes a new changeset when retried [MR-63]', () => {
    const database = withRejected();
    expect(database.retryRejected(2)).toMatchObject({ sequence: 3, touchedTables: ['account'] });
    expect(database.connection.rows('SELECT id, name, amount FROM account ORDER BY id')).toEqual([
      ['a', 'Cash', null],
      ['old', 'x', 7],
    ]);
    expect(database.changelog.read(3)?.groups).toEqual(database.changelog.read(2)?.groups);
    expect(database.rejected.count()).toBe(0);
    database.close();
  });

  it('is retried without triggers, which run again afterwards', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id, amount) VALUES ('sum', 0)");
    write(
      database,
      "CREATE TRIGGER counted AFTER INSERT ON priced BEGIN UPDATE account SET amount = amount + new.net WHERE id = 'sum'; END",
    );
    write(database, "INSERT INTO priced (id, net) VALUES ('p', 4)");
    database.connection.exec('DELETE FROM priced; UPDATE account SET amount = 0');
    rejectAsServer(database, 2);
    database.retryRejected(2);
    expect(database.connection.rows('SELECT (SELECT net FROM priced), amount FROM account')).toEqual([[4, 4]]);
    expect(database.changelog.read(3)?.groups).toHaveLength(2);
    write(database, "INSERT INTO priced (id, net) VALUES ('q', 1)");
    expect(database.connection.value('SELECT amount FROM account')).toBe(5);
    database.close();
  });

  it('stays rejected if it still does not fit', () => {
    const database = withRejected();
    write(database, "INSERT INTO account (id, name) VALUES ('b', 'Cash')");
    expect(() => database.retryRejected(2)).toThrow(expect.objectContaining({ code: 'constraint-unique' }));
    expect(database.rejected.count()).toBe(1);
    expect(database.changelog.head().sequence).toBe(3);
    expect(database.connection.rows('SELECT id FROM account ORDER BY id')).toEqual([['b'], ['old']]);
    expect(() => database.retryRejected(1)).toThrow(expect.objectContaining({ code: 'changeset-not-rejected' }));
    database.close();
  });

  it('stays rejected if a row that it changes is gone: it takes effect as a whole or not at all [MR-63]', () => {
    const database = withRejected();
    write(database, "DELETE FROM account WHERE id = 'old'");
    expect(() => database.retryRejected(2)).toThrow(
      expect.objectContaining({ code: 'row-missing', fields: { table: 'account' } }),
    );
    expect(database.rejected.count()).toBe(1);
    expect(database.connection.rows('SELECT id FROM account')).toEqual([]);
    write(database, "INSERT INTO account (id, amount) VALUES ('old', 1)");
    database.retryRejected(2);
    expect(database.connection.rows('SELECT id, amount FROM account ORDER BY id')).toEqual([
      ['a', null],
      ['old', 7],
    ]);
    database.close();
  });

  it('can swap unique values between rows that other rows refer to [MR-63]', () => {
    const database = openInMemory();
    write(
      database,
      "INSERT INTO account (id, name) VALUES ('a', 'Cash'), ('b', 'Bank')",
      "INSERT INTO entry (id, account_id) VALUES ('e', 'a')",
    );
    write(
      database,
      "UPDATE account SET name = 'x' WHERE id = 'a'",
      "UPDATE account SET name = 'Cash' WHERE id = 'b'",
      "UPDATE account SET name = 'Bank' WHERE id = 'a'",
    );
    database.connection.exec(
      "UPDATE account SET name = 'x' WHERE id = 'a'; UPDATE account SET name = 'Bank' WHERE id = 'b'; UPDATE account SET name = 'Cash' WHERE id = 'a'",
    );
    rejectAsServer(database, 2);
    database.retryRejected(2);
    expect(database.connection.rows('SELECT id, name FROM account ORDER BY id')).toEqual([
      ['a', 'Bank'],
      ['b', 'Cash'],
    ]);
    expect(database.connection.rows('SELECT account_id FROM entry')).toEqual([['a']]);
    expect(database.changelog.read(3)?.groups).toEqual(database.changelog.read(2)?.groups);
    expect(() => write(database, "INSERT INTO entry (id, account_id) VALUES ('f', 'nobody')")).toThrow(
      expect.objectContaining({ code: 'constraint-foreign-key' }),
    );
    database.close();
  });

  it('can swap unique values beside a row whose parent was missing before', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id, name) VALUES ('a', 'Cash'), ('b', 'Bank')");
    write(
      database,
      "UPDATE account SET name = 'x' WHERE id = 'a'",
      "UPDATE account SET name = 'Cash' WHERE id = 'b'",
      "UPDATE account SET name = 'Bank' WHERE id = 'a'",
    );
    database.connection.setForeignKeys(false);
    database.connection.exec(
      "INSERT INTO entry (id, account_id) VALUES ('orphan', 'missing'); UPDATE account SET name = 'x' WHERE id = 'a'; UPDATE account SET name = 'Bank' WHERE id = 'b'; UPDATE account SET name = 'Cash' WHERE id = 'a'",
    );
    database.connection.setForeignKeys(true);
    rejectAsServer(database, 2);
    database.retryRejected(2);
    expect(database.connection.rows('SELECT id, name FROM account ORDER BY id')).toEqual([
      ['a', 'Bank'],
      ['b', 'Cash'],
    ]);
    database.close();
  });

  it.each([
    ['another name', 'New'],
    ['the name that it had', 'Cash'],
  ])('moves a row and its references to a new key under %s [MR-63]', (_, name) => {
    const database = openInMemory();
    write(
      database,
      "INSERT INTO account (id, name) VALUES ('x', 'Cash')",
      "INSERT INTO entry (id, account_id) VALUES ('e', 'x')",
    );
    write(database, `UPDATE account SET id = 'y', name = '${name}' WHERE id = 'x'`);
    database.connection.exec("UPDATE account SET id = 'x', name = 'Cash' WHERE id = 'y'");
    rejectAsServer(database, 2);
    database.retryRejected(2);
    expect(database.connection.rows('SELECT id, name FROM account')).toEqual([['y', name]]);
    expect(database.connection.rows('SELECT id, account_id FROM entry')).toEqual([['e', 'y']]);
    expect(database.changelog.read(3)?.groups).toEqual(database.changelog.read(2)?.groups);
    database.close();
  });

  it.each(['no action', 'restrict', 'cascade'] as const)(
    'can insert or delete a row together with its references under ON DELETE %s, in any order of tables [MR-63]',
    (onDelete) => {
      const reference = (foreignTable: string): Partial<TableSchema> => ({
        foreignKeys: [{ columns: ['of'], foreignTable, foreignColumns: ['id'], onDelete, onUpdate: 'no action' }],
      });
      const schema = buildSchema([
        testTable('a_part', { id: 'text not null', of: 'text' }, reference('m_whole')),
        testTable('m_whole', { id: 'text not null' }),
        testTable('z_part', { id: 'text not null', of: 'text' }, reference('m_whole')),
      ]);
      const database = openInMemory({ schema });
      const idsNow = (): unknown =>
        database.connection.rows(
          "SELECT id FROM m_whole UNION ALL SELECT id FROM a_part WHERE of = 'w' UNION ALL SELECT id FROM z_part WHERE of = 'w' ORDER BY 1",
        );
      const make = [
        "INSERT INTO m_whole (id) VALUES ('w')",
        "INSERT INTO a_part (id, of) VALUES ('a', 'w')",
        "INSERT INTO z_part (id, of) VALUES ('z', 'w')",
      ];
      const remove = ['DELETE FROM a_part', 'DELETE FROM z_part', 'DELETE FROM m_whole'];
      write(database, ...make);
      database.connection.exec(remove.join(';'));
      rejectAsServer(database, 1);
      database.retryRejected(1);
      expect(idsNow()).toEqual([['a'], ['w'], ['z']]);
      write(database, ...remove);
      database.connection.exec(make.join(';'));
      rejectAsServer(database, 3);
      database.retryRejected(3);
      expect(idsNow()).toEqual([]);
      expect(database.changelog.read(4)?.groups.map(({ kind, rowCount }) => [kind, rowCount])).toEqual([
        ['delete', 1],
        ['delete', 1],
        ['delete', 1],
      ]);
      database.close();
    },
  );

  it('deletes current references too when it deletes a row under ON DELETE CASCADE', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id, name) VALUES ('x', 'Cash')");
    write(database, 'DELETE FROM account');
    write(
      database,
      "INSERT INTO account (id, name) VALUES ('x', 'Cash')",
      "INSERT INTO entry (id, account_id) VALUES ('e', 'x')",
    );
    rejectAsServer(database, 2);
    database.retryRejected(2);
    expect(database.connection.value('SELECT count(*) FROM entry')).toBe(0);
    expect(database.changelog.read(4)?.groups.map(({ kind, keys }) => [kind, keys])).toEqual([
      ['delete', [['x']]],
      ['delete', [['e']]],
    ]);
    database.close();
  });

  it('stays rejected if it would leave a row without its parent [MR-63]', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id) VALUES ('x')");
    write(database, "INSERT INTO entry (id, account_id) VALUES ('e', 'x')");
    write(database, 'DELETE FROM account');
    rejectAsServer(database, 2);
    expect(() => database.retryRejected(2)).toThrow(expect.objectContaining({ code: 'constraint-foreign-key' }));
    expect(database.rejected.count()).toBe(1);
    expect(database.connection.value('SELECT count(*) FROM entry')).toBe(0);
    expect(() => write(database, "INSERT INTO entry (id, account_id) VALUES ('f', 'nobody')")).toThrow(
      expect.objectContaining({ code: 'constraint-foreign-key' }),
    );
    database.close();
  });

  it('stays rejected if it would leave rows without their parent, even when it swaps unique values', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id, name) VALUES ('a', 'Cash'), ('b', 'Bank')");
    write(
      database,
      "DELETE FROM account WHERE id = 'a'",
      "UPDATE account SET name = 'Cash' WHERE id = 'b'",
      "INSERT INTO account (id, name) VALUES ('c', 'Bank')",
    );
    write(
      database,
      "INSERT INTO account (id, name) VALUES ('a', 'Card')",
      "UPDATE account SET name = 'x' WHERE id = 'b'",
      "UPDATE account SET name = 'Cash' WHERE id = 'c'",
      "UPDATE account SET name = 'Bank' WHERE id = 'b'",
      "INSERT INTO entry (id, account_id) VALUES ('e', 'a')",
    );
    rejectAsServer(database, 2);
    expect(() => database.retryRejected(2)).toThrow(expect.objectContaining({ code: 'constraint-foreign-key' }));
    expect(database.rejected.count()).toBe(1);
    expect(database.connection.rows('SELECT id, name FROM account ORDER BY id')).toEqual([
      ['a', 'Card'],
      ['b', 'Bank'],
      ['c', 'Cash'],
    ]);
    database.close();
  });

  it('can be replaced by other statements, in one transaction [MR-63]', () => {
    const database = withRejected();
    write(database, "INSERT INTO account (id, name) VALUES ('b', 'Cash')");
    const replace = (sql: string): ReturnType<OpenDatabase['write']> =>
      database.write({
        id: `e${++requests}`,
        statements: [{ sql, params: [] }],
        action: { kind: 'replace-rejected', sequence: 2 },
      });
    expect(() => replace('DELETE FROM rockpool_conflict')).toThrow(expect.objectContaining({ code: 'sql-forbidden' }));
    expect(() => replace("INSERT INTO account (id, name) VALUES ('a', 'Cash')")).toThrow(
      expect.objectContaining({ code: 'constraint-unique' }),
    );
    expect(database.rejected.count()).toBe(1);
    expect(replace("INSERT INTO account (id, name) VALUES ('a', 'Cash 2')")).toMatchObject({
      sequence: 4,
      touchedTables: ['account'],
    });
    expect(database.rejected.count()).toBe(0);
    expect(database.connection.value("SELECT name FROM account WHERE id = 'a'")).toBe('Cash 2');
    expect(() => replace('DELETE FROM account')).toThrow(expect.objectContaining({ code: 'changeset-not-rejected' }));
    database.close();
  });

  it('can be dropped [MR-63]', () => {
    const database = withRejected();
    const drop = { id: 'drop', statements: [], action: { kind: 'drop-rejected', sequence: 2 } } as const;
    expect(database.write(drop)).toEqual({
      results: [],
      touchedTables: [],
      changes: [],
      sequence: null,
      repeated: false,
    });
    expect(database.write(drop).repeated).toBe(true);
    expect(database.rejected.list()).toEqual([]);
    expect(database.rejected.count()).toBe(0);
    expect(() => database.write({ ...drop, id: 'again' })).toThrow(
      expect.objectContaining({ code: 'changeset-not-rejected' }),
    );
    database.close();
  });

  it('is retried once, however often the request arrives', () => {
    const database = withRejected();
    const retry = { id: 'retry', statements: [], action: { kind: 'retry-rejected', sequence: 2 } } as const;
    expect(database.write(retry)).toMatchObject({ sequence: 3, repeated: false });
    expect(database.write(retry)).toMatchObject({ sequence: 3, repeated: true });
    expect(database.changelog.head().sequence).toBe(3);
    database.close();
  });

  it('can be neither retried nor dropped before its outcome', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id) VALUES ('a')");
    database.rejected.add(1, reason, 1000);
    for (const kind of ['retry-rejected', 'drop-rejected'] as const) {
      expect(() => database.write({ id: kind, statements: [], action: { kind, sequence: 1 } })).toThrow(
        expect.objectContaining({ code: 'changeset-undecided' }),
      );
    }
    expect(database.listRejected()).toMatchObject([{ sequence: 1, decided: false }]);
    database.close();
  });

  it('stays atomic when retried', () => {
    const database = openInMemory();
    database.write({
      id: 'atomic',
      statements: [{ sql: "INSERT INTO account (id) VALUES ('a')", params: [] }],
      action: { kind: 'atomic' },
    });
    expect(database.changelog.read(1)?.atomic).toBe(true);
    write(database, "INSERT INTO account (id) VALUES ('b')");
    expect(database.changelog.read(2)?.atomic).toBe(false);
    rejectAsServer(database, 1);
    database.connection.exec("DELETE FROM account WHERE id = 'a'");
    database.retryRejected(1);
    expect(database.changelog.read(3)?.atomic).toBe(true);
    database.close();
  });

  it('is listed with table and column names, old values and new values', () => {
    const schema = buildSchema([
      testTable(
        'page',
        { id: 'text not null', title: 'text', hits: 'integer not null default 0' },
        { merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [], documents: [] } },
      ),
    ]);
    const database = openInMemory({ schema });
    write(database, "INSERT INTO page (id, title, hits) VALUES ('a', 'A', 5), ('b', 'B', 6)");
    write(
      database,
      "UPDATE page SET hits = hits + 2, title = 'A2' WHERE id = 'a'",
      "DELETE FROM page WHERE id = 'b'",
      "INSERT INTO page (id, hits) VALUES ('c', 9007199254740993)",
    );
    rejectAsServer(database, 2);
    expect(database.listRejected()).toEqual([
      {
        sequence: 2,
        reason,
        writtenMs: 1_700_000_000_000,
        rejectedMs: 1000,
        decided: true,
        atomic: false,
        changes: [
          {
            table: 'page',
            kind: 'delete',
            key: ['b'],
            values: [
              { column: 'title', before: 'B' },
              { column: 'hits', before: 6 },
            ],
          },
          {
            table: 'page',
            kind: 'update',
            key: ['a'],
            values: [
              { column: 'title', before: 'A', after: 'A2' },
              { column: 'hits', before: 5, after: 7 },
            ],
          },
          {
            table: 'page',
            kind: 'insert',
            key: ['c'],
            values: [
              { column: 'title', after: null },
              { column: 'hits', after: 9_007_199_254_740_993n },
            ],
          },
        ],
      },
    ]);
    database.close();
  });
});
