import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import type { SqlParam } from '../../rpc/sql-value.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { openInMemory, openStored } from '../../../testing/worker/test-database.ts';
import type { OpenTransaction } from './open-transaction.ts';

const sql = (text: string, ...params: SqlParam[]): { sql: string; params: SqlParam[] } => ({ sql: text, params });
const insert = (id: string, amount: number): { sql: string; params: SqlParam[] } =>
  sql('INSERT INTO account (id, amount) VALUES (?, ?)', id, amount);
const amountsOf = (source: Pick<OpenTransaction, 'query'>): unknown =>
  decodeRows(source.query(sql('SELECT id, amount FROM account ORDER BY id')));
const accounts = (database: OpenDatabase): unknown[][] =>
  database.connection.rows('SELECT id, amount FROM account ORDER BY id');

describe('an open transaction', () => {
  it('sees its own writes, which others see only after its commit', async () => {
    const medium = memoryMedium();
    const writer = await openStored(medium);
    const reader = await openStored(medium, { role: 'reader' });
    const transaction = writer.database.begin({ atomic: false });
    transaction.execute(insert('a', 1));
    expect(amountsOf(transaction)).toEqual([{ id: 'a', amount: 1 }]);
    expect(accounts(reader.database)).toEqual([]);
    transaction.commit('request');
    expect(accounts(reader.database)).toEqual([['a', 1]]);
    await reader.close();
    await writer.close();
  });

  it('becomes one changeset, without the changes it rolled back', () => {
    const database = openInMemory();
    const transaction = database.begin({ atomic: true });
    transaction.execute(insert('a', 1));
    transaction.execute(sql('UPDATE account SET amount = 5 WHERE id = ?', 'a'));
    transaction.savepoint(1);
    transaction.execute(insert('b', 2));
    transaction.execute(sql('INSERT INTO priced (id, net) VALUES (?, ?)', 'p', 2));
    transaction.undo(1);
    const outcome = transaction.commit('request');
    expect(outcome).toMatchObject({ sequence: 1, touchedTables: expect.arrayContaining(['account']), repeated: false });
    const changeset = database.changelog.read(1);
    expect(changeset?.atomic).toBe(true);
    expect(changeset?.groups.map(({ kind, keys }) => [kind, keys])).toEqual([['insert', [['a']]]]);
    expect(accounts(database)).toEqual([['a', 5]]);
  });

  it('commits the writes around a savepoint that changed the schema and was rolled back', () => {
    const database = openInMemory();
    const transaction = database.begin({ atomic: false });
    transaction.execute(insert('a', 1));
    transaction.savepoint(1);
    transaction.execute(sql('CREATE VIEW names AS SELECT name FROM account'));
    transaction.execute(insert('b', 2));
    transaction.undo(1);
    transaction.commit('request');
    expect(accounts(database)).toEqual([['a', 1]]);
    expect(database.changelog.read(1)?.groups.map(({ keys }) => keys)).toEqual([[['a']]]);
  });

  it('keeps the writes of a released savepoint', () => {
    const database = openInMemory();
    const transaction = database.begin({ atomic: false });
    transaction.savepoint(1);
    transaction.execute(insert('a', 1));
    transaction.savepoint(2);
    transaction.execute(insert('b', 2));
    transaction.release(2);
    transaction.release(1);
    transaction.commit('request');
    expect(accounts(database)).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('continues after a failed statement', () => {
    const database = openInMemory();
    const transaction = database.begin({ atomic: false });
    transaction.execute(insert('a', 1));
    expect(() => transaction.execute(insert('a', 2))).toThrow(
      expect.objectContaining({ code: 'constraint-primary-key' }),
    );
    transaction.execute(insert('b', 2));
    transaction.commit('request');
    expect(accounts(database)).toHaveLength(2);
  });

  it('ends when SQLite itself rolls it back', () => {
    const database = openInMemory();
    const transaction = database.begin({ atomic: false });
    transaction.execute(insert('a', 1));
    expect(() => transaction.execute(sql("INSERT OR ROLLBACK INTO account (id) VALUES ('a')"))).toThrow(
      expect.objectContaining({ code: 'constraint-primary-key' }),
    );
    expect(transaction.isOver).toBe(true);
    expect(() => transaction.execute(insert('b', 1))).toThrow(expect.objectContaining({ code: 'transaction-ended' }));
    expect(accounts(database)).toEqual([]);
    database.write({ id: 'later', statements: [insert('c', 1)] });
    expect(database.changelog.head().sequence).toBe(1);
  });

  it('returns the rows of RETURNING', () => {
    const database = openInMemory();
    const transaction = database.begin({ atomic: false });
    const { changes, rows } = transaction.execute(
      sql('INSERT INTO account (id, amount) VALUES (?, ?), (?, ?) RETURNING id, amount * 2 AS twice', 'a', 1, 'b', 2),
    );
    expect(changes).toBe(2);
    expect(rows && decodeRows(rows)).toEqual([
      { id: 'a', twice: 2 },
      { id: 'b', twice: 4 },
    ]);
    transaction.rollback();
    expect(accounts(database)).toEqual([]);
  });

  it('rejects statements that are not allowed in a write, and rejects writes in a query', () => {
    const transaction = openInMemory().begin({ atomic: false });
    expect(() => transaction.execute(sql('COMMIT'))).toThrow(expect.objectContaining({ code: 'sql-forbidden' }));
    transaction.savepoint(1);
    expect(() => transaction.execute(sql('ROLLBACK TO rockpool_1'))).toThrow(
      expect.objectContaining({ code: 'sql-forbidden' }),
    );
    expect(() => transaction.query(insert('a', 1))).toThrow(expect.objectContaining({ code: 'sql-read-only' }));
    transaction.rollback();
  });

  it('commits once, returns the outcome to a repeated commit, and reports an unknown transaction as lost', () => {
    const database = openInMemory();
    const transaction = database.begin({ atomic: false });
    transaction.execute(insert('a', 1));
    transaction.commit('tx');
    const again = database.write({
      id: 'tx',
      statements: [],
      action: { kind: 'commit-transaction', transactionId: 'tx' },
    });
    expect(again).toMatchObject({ sequence: 1, repeated: true });
    const lost = (): unknown =>
      database.write({ id: 'gone', statements: [], action: { kind: 'commit-transaction', transactionId: 'gone' } });
    expect(lost).toThrow(expect.objectContaining({ code: 'transaction-lost' }));
  });

  it.each<[how: string, end: (transaction: OpenTransaction) => void]>([
    ['is committed', (transaction) => void transaction.commit('tx')],
    ['is rolled back', (transaction) => transaction.rollback()],
    [
      'cannot be committed',
      (transaction) => {
        transaction.execute(sql('UPDATE account SET name = ?', 'x'.repeat(10 * 1024 * 1024)));
        expect(() => transaction.commit('tx')).toThrow(expect.objectContaining({ code: 'value-invalid' }));
      },
    ],
  ])('runs no triggers if it is to run without them, and later writes run them, if it %s', (_, end) => {
    const database = openInMemory();
    const write = (id: string, statement: ReturnType<typeof sql>): unknown =>
      database.write({ id, statements: [statement] });
    write('account', insert('a', 0));
    write(
      'trigger',
      sql('CREATE TRIGGER counted AFTER INSERT ON priced BEGIN UPDATE account SET amount = amount + 1; END'),
    );
    const transaction = database.begin({ atomic: false, withoutTriggers: true });
    transaction.execute(sql("INSERT INTO priced (id) VALUES ('during')"));
    expect(amountsOf(transaction)).toEqual([{ id: 'a', amount: 0 }]);
    end(transaction);
    write('later', sql("INSERT INTO priced (id) VALUES ('later')"));
    expect(accounts(database)).toEqual([['a', 1]]);
  });

  it('stores nothing if its changeset is too large to send', () => {
    const database = openInMemory();
    const transaction = database.begin({ atomic: false });
    transaction.execute(sql("INSERT INTO account (id, name) VALUES ('a', ?)", 'x'.repeat(10 * 1024 * 1024)));
    expect(() => transaction.commit('tx')).toThrow(expect.objectContaining({ code: 'value-invalid' }));
    expect(transaction.isOver).toBe(true);
    expect(accounts(database)).toEqual([]);
  });
});
