import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayAffect, type QueryDependencies } from '../../rpc/query-dependencies.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import { openInMemory } from '../testing/test-database.ts';

const ID = fc.constantFrom('a', 'b', 'c', '1', '2');
const AMOUNT = fc.constantFrom<number | string | null>(1, 2, 3, null);
const VALUE = fc.oneof(ID, AMOUNT);

const query = (sql: string, ...params: SqlStatement['params'][number][]): SqlStatement => ({ sql, params });

/** Queries of many plans: by key, by index, by range, by several values, joined, nested, counted, limited, over views of themselves. */
const QUERIES = fc.oneof(
  VALUE.map((v) => query('SELECT * FROM account WHERE id = ?', v)),
  VALUE.map((v) => query('SELECT amount FROM account WHERE name = ? ORDER BY rate', v)),
  VALUE.map((v) => query('SELECT name FROM account WHERE amount = ?', v)),
  VALUE.map((v) => query('SELECT id, note FROM entry WHERE account_id = ? ORDER BY note LIMIT 2', v)),
  VALUE.map((v) => query('SELECT id FROM entry WHERE account_id IS ?', v)),
  fc.tuple(VALUE, VALUE).map(([v, w]) => query('SELECT id FROM entry WHERE account_id IN (?, ?)', v, w)),
  fc.tuple(VALUE, VALUE).map(([v, w]) => query('SELECT id FROM entry WHERE account_id = ? OR id = ?', v, w)),
  fc.tuple(VALUE, VALUE).map(([v, w]) => query('SELECT id FROM entry WHERE account_id > ? AND account_id <= ?', v, w)),
  fc.tuple(VALUE, VALUE).map(([v, w]) => query('SELECT id FROM entry WHERE account_id BETWEEN ? AND ?', v, w)),
  fc.constant(query("SELECT id FROM entry WHERE account_id >= 'a' AND account_id <= 'b'")),
  fc.tuple(VALUE, VALUE).map(([v, w]) => query('SELECT e.id FROM entry e, entry f WHERE e.account_id = ? AND f.account_id = ?', v, w)),
  VALUE.map((v) => query('SELECT a.name, e.note FROM account a JOIN entry e ON e.account_id = a.id WHERE a.id = ?', v)),
  VALUE.map((v) => query('SELECT a.name, count(e.id) FROM account a LEFT JOIN entry e ON e.account_id = a.id WHERE a.id = ? GROUP BY a.name', v)),
  VALUE.map((v) => query('SELECT count(*) FROM entry WHERE account_id = ?', v)),
  VALUE.map((v) => query('SELECT max(note) FROM entry WHERE account_id = ?', v)),
  VALUE.map((v) => query('SELECT (SELECT name FROM account WHERE id = ?) AS name, count(*) FROM entry', v)),
  VALUE.map((v) => query('SELECT * FROM (SELECT account_id AS x, note FROM entry) WHERE x = ?', v)),
  VALUE.map((v) => query('SELECT id FROM account WHERE EXISTS (SELECT 1 FROM entry WHERE account_id = account.id AND id = ?)', v)),
  VALUE.map((v) => query('SELECT id FROM entry WHERE account_id = ? UNION SELECT id FROM account WHERE amount > 1', v)),
  VALUE.map((v) => query('WITH RECURSIVE up(id) AS (SELECT id FROM entry WHERE id = ? UNION SELECT e.id FROM entry e JOIN up ON e.account_id = up.id) SELECT * FROM up', v)),
  VALUE.map((v) => query('SELECT id, row_number() OVER (ORDER BY note) FROM entry WHERE account_id = ?', v)),
  VALUE.map((v) => query('SELECT id FROM account WHERE id = CAST(? AS INTEGER)', v)),
  VALUE.map((v) => query('SELECT gross FROM priced WHERE id = ?', v)),
  VALUE.map((v) => query('SELECT id FROM priced WHERE gross = ?', v)),
  fc.constant(query("SELECT id FROM account WHERE id = 'a'")),
  fc.constant(query('SELECT id FROM account WHERE name = 1')),
  fc.constant(query('SELECT count(*) FROM account')),
);

const WRITES = fc.oneof(
  fc.tuple(ID, VALUE, AMOUNT).map(([id, name, amount]) => query('INSERT OR IGNORE INTO account (id, name, amount) VALUES (?, ?, ?)', id, name, amount)),
  fc.tuple(ID, VALUE).map(([id, account]) => query('INSERT OR IGNORE INTO entry (id, account_id) VALUES (?, (SELECT id FROM account WHERE id = ?))', id, account)),
  fc.tuple(ID, AMOUNT).map(([id, net]) => query('INSERT OR REPLACE INTO priced (id, net) VALUES (?, ?)', id, net)),
  fc.tuple(AMOUNT, ID).map(([net, id]) => query('UPDATE priced SET net = ? WHERE id = ?', net, id)),
  fc.tuple(AMOUNT, ID).map(([amount, id]) => query('UPDATE account SET amount = ? WHERE id = ?', amount, id)),
  fc.tuple(VALUE, ID).map(([name, id]) => query('UPDATE OR IGNORE account SET name = ? WHERE id = ?', name, id)),
  fc.tuple(ID, ID).map(([note, id]) => query('UPDATE entry SET note = ? WHERE id = ?', note, id)),
  fc.tuple(ID, ID).map(([account, id]) => query('UPDATE entry SET account_id = (SELECT id FROM account WHERE id = ?) WHERE id = ?', account, id)),
  fc.tuple(ID, ID).map(([to, from]) => query('UPDATE OR IGNORE account SET id = ? WHERE id = ?', to, from)),
  ID.map((id) => query('DELETE FROM entry WHERE id = ?', id)),
  ID.map((id) => query('DELETE FROM account WHERE id = ?', id)),
);

/** Rows that the writes can find, and that refer to one another. */
const SEED = ['a', 'b', 'c'].flatMap((id) => [query('INSERT INTO account (id, name, amount) VALUES (?, ?, 1)', id, id), query('INSERT INTO entry (id, account_id, note) VALUES (?, ?, ?)', id, id, id)]);

describe('what a query depends on', () => {
  it('never misses a commit that changed its result', () => {
    let skipped = 0;
    fc.assert(
      fc.property(fc.array(QUERIES, { minLength: 1, maxLength: 8 }), fc.array(fc.array(WRITES, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), (queries, commits) => {
        const database = openInMemory();
        database.write({ id: 'seed', statements: SEED });
        // What no ORDER BY says may come in another order when a row was deleted and inserted again.
        const resultOf = ({ sql, params }: SqlStatement): unknown => {
          const rows = decodeRows(database.query(sql, params)).map((row) => JSON.stringify(row));
          return sql.includes('ORDER BY') ? rows : rows.sort();
        };
        const watched = queries.map((one) => ({ one, dependencies: database.dependencies(one) as QueryDependencies, result: resultOf(one) }));
        for (const [number, statements] of commits.entries()) {
          const { touchedTables: tables, changes } = database.write({ id: String(number), statements });
          for (const each of watched) {
            const result = resultOf(each.one);
            const affected = mayAffect({ tables, changes }, each.dependencies);
            if (!affected) {
              skipped++;
              expect(result, each.one.sql).toEqual(each.result);
            }
            each.result = result;
          }
        }
        database.close();
      }),
      { numRuns: 300 },
    );
    expect(skipped).toBeGreaterThan(300);
  });

  it('is the one value by which it finds rows, where there is one', () => {
    const database = openInMemory();
    const byAccount = database.dependencies(query('SELECT note FROM entry WHERE account_id = ? ORDER BY note', 'a'));
    expect(byAccount).toEqual([{ table: 'entry', columns: expect.arrayContaining(['note', 'account_id']), lookups: [{ column: 'account_id', key: 'text:a' }] }]);
    const joined = database.dependencies(query('SELECT a.name, e.note FROM account a JOIN entry e ON e.account_id = a.id WHERE a.id = ?', 'a'));
    expect(joined.map(({ table, lookups }) => [table, lookups])).toEqual([
      ['account', [{ column: 'id', key: 'text:a' }]],
      ['entry', [{ column: 'account_id', key: 'text:a' }]],
    ]);
    const scan = database.dependencies(query('SELECT note FROM entry WHERE note = ?', 'a'));
    expect(scan).toMatchObject([{ table: 'entry', lookups: null }]);
  });

  it('leaves a query alone whose columns or rows a commit did not touch', () => {
    const database = openInMemory();
    database.write({ id: '1', statements: [query("INSERT INTO account (id, name, amount) VALUES ('a', 'x', 1), ('b', 'y', 1)")] });
    const names = database.dependencies(query('SELECT name FROM account'));
    const ofA = database.dependencies(query("SELECT amount FROM account WHERE id = 'a'"));
    const touches = (id: string, sql: string): boolean[] => {
      const { touchedTables: tables, changes } = database.write({ id, statements: [query(sql)] });
      return [names, ofA].map((one) => mayAffect({ tables, changes }, one));
    };
    expect(touches('2', "UPDATE account SET amount = 2 WHERE id = 'b'")).toEqual([false, false]);
    expect(touches('3', "UPDATE account SET amount = 2 WHERE id = 'a'")).toEqual([false, true]);
    expect(touches('4', "UPDATE account SET name = 'z' WHERE id = 'a'")).toEqual([true, false]);
    expect(touches('5', "INSERT INTO account (id) VALUES ('c')")).toEqual([true, false]);
    const byRowid = database.dependencies(query('SELECT rowid, id FROM account ORDER BY rowid DESC LIMIT 1'));
    const again = database.write({ id: 'again', statements: [query("DELETE FROM account WHERE id = 'b'"), query("INSERT INTO account (id, name, amount) VALUES ('b', 'other', 1)")] });
    expect(mayAffect({ tables: again.touchedTables, changes: again.changes }, byRowid)).toBe(true);
    expect(touches('6', "DELETE FROM account WHERE id = 'a'")).toEqual([true, true]);
  });
});
