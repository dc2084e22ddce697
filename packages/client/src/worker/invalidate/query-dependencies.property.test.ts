import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { dependenciesAfter, mayAffect, type QueryDependencies } from '../../rpc/query-dependencies.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import { QUERIES, query, SEED, WRITES } from '../../../testing/worker/query-arbitraries.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

describe('the dependencies of a query', () => {
  it('match every commit that changed the result', () => {
    const numRuns = atLevel({ test: 50, verify: 300 });
    let skipped = 0;
    fc.assert(
      fc.property(
        fc.array(QUERIES, { minLength: 1, maxLength: 8 }),
        fc.array(fc.array(WRITES, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
        (queries, commits) => {
          const database = openInMemory();
          database.write({ id: 'seed', statements: SEED });
          // Without ORDER BY, the order of rows may change after one of them was deleted and inserted again.
          const resultOf = ({ sql, params }: SqlStatement): unknown => {
            const rows = decodeRows(database.query(sql, params)).map((row) => JSON.stringify(row));
            return sql.includes('ORDER BY') ? rows : rows.sort();
          };
          const watched = queries.map((one) => ({
            one,
            dependencies: database.dependencies(one) as QueryDependencies,
            result: resultOf(one),
            rows: database.query(one.sql, one.params),
          }));
          for (const [number, statements] of commits.entries()) {
            const { touchedTables: tables, changes } = database.write({ id: String(number), statements });
            for (const each of watched) {
              const result = resultOf(each.one);
              const affected = mayAffect({ tables, changes }, dependenciesAfter(each.dependencies, each.rows));
              if (!affected) {
                skipped++;
                expect(result, each.one.sql).toEqual(each.result);
              }
              // A query that does not run again keeps its rows.
              else each.rows = database.query(each.one.sql, each.one.params);
              each.result = result;
            }
          }
          database.close();
        },
      ),
      { numRuns },
    );
    expect(skipped).toBeGreaterThan(numRuns);
  });

  it('name the one value by which the query finds rows, if there is one', () => {
    const database = openInMemory();
    const byAccount = database.dependencies(query('SELECT note FROM entry WHERE account_id = ? ORDER BY note', 'a'));
    expect(byAccount).toEqual([
      {
        table: 'entry',
        columns: expect.arrayContaining(['note', 'account_id']),
        lookups: [{ column: 'account_id', key: 'text:a' }],
      },
    ]);
    const joined = database.dependencies(
      query('SELECT a.name, e.note FROM account a JOIN entry e ON e.account_id = a.id WHERE a.id = ?', 'a'),
    );
    expect(joined.map(({ table, lookups }) => [table, lookups])).toEqual([
      ['account', [{ column: 'id', key: 'text:a' }]],
      ['entry', [{ column: 'account_id', key: 'text:a' }]],
    ]);
    const scan = database.dependencies(query('SELECT note FROM entry WHERE note = ?', 'a'));
    expect(scan).toMatchObject([{ table: 'entry', lookups: null }]);
  });

  it('name the range of an index that the query reads, up to the last row if a limit ended the query', () => {
    const database = openInMemory();
    const lookupsOf = (one: SqlStatement): unknown => database.dependencies(one).map(({ lookups }) => lookups);
    const range = { column: 'account_id', ofNumbers: false, from: 'text:a', to: 'text:c', stop: null };
    expect(
      lookupsOf(query('SELECT id FROM entry WHERE account_id BETWEEN ? AND ? ORDER BY account_id', 'a', 'c')),
    ).toEqual([[range]]);
    expect(
      lookupsOf(
        query('SELECT id FROM entry WHERE account_id <= ? AND account_id > ? ORDER BY account_id DESC', 'c', 'a'),
      ),
    ).toEqual([[range]]);
    expect(lookupsOf(query('SELECT count(*) FROM entry WHERE account_id < ?', 'c'))).toEqual([
      [{ ...range, from: null }],
    ]);
    // Whether 7 is compared as text depends only on the column.
    expect(lookupsOf(query('SELECT count(*) FROM entry WHERE account_id < ?', 7))).toEqual([
      [{ ...range, from: null, to: 'number:7' }],
    ]);

    expect(lookupsOf(query('SELECT count(*) FROM account WHERE rate BETWEEN ? AND ?', 2, 10))).toEqual([
      [{ column: 'rate', ofNumbers: true, from: 'number:2', to: 'number:10', stop: null }],
    ]);

    for (const id of ['a', 'c', 'e'])
      database.write({ id, statements: [query('INSERT INTO account (id, name, amount) VALUES (?, ?, 1)', id, id)] });
    const [upwards, downwards, all] = ['ORDER BY id LIMIT 2', 'ORDER BY id DESC LIMIT 2', 'ORDER BY id LIMIT 9'].map(
      (order) => query(`SELECT amount, id FROM account ${order}`),
    ) as [SqlStatement, SqlStatement, SqlStatement];
    const affected = (id: string): boolean[] => {
      const after = [upwards, downwards, all].map((one) =>
        dependenciesAfter(database.dependencies(one), database.query(one.sql, one.params)),
      );
      const { touchedTables: tables, changes } = database.write({
        id: `change ${id}`,
        statements: [query('UPDATE account SET amount = amount + 1 WHERE id = ?', id)],
      });
      return after.map((dependencies) => mayAffect({ tables, changes }, dependencies));
    };
    expect(affected('a')).toEqual([true, false, true]);
    expect(affected('c')).toEqual([true, true, true]);
    expect(affected('e')).toEqual([false, true, true]);
  });

  it('match no commit outside the columns and rows of the query', () => {
    const database = openInMemory();
    database.write({
      id: '1',
      statements: [query("INSERT INTO account (id, name, amount) VALUES ('a', 'x', 1), ('b', 'y', 1)")],
    });
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
    const again = database.write({
      id: 'again',
      statements: [
        query("DELETE FROM account WHERE id = 'b'"),
        query("INSERT INTO account (id, name, amount) VALUES ('b', 'other', 1)"),
      ],
    });
    expect(mayAffect({ tables: again.touchedTables, changes: again.changes }, byRowid)).toBe(true);
    expect(touches('6', "DELETE FROM account WHERE id = 'a'")).toEqual([true, true]);
  });
});
