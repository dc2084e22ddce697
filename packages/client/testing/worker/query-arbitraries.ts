import fc, { type Arbitrary } from 'fast-check';
import type { SqlStatement } from '../../src/rpc/sql-statement.ts';

// Queries, and writes that affect their rows, over the tables of test-database.ts.

export const ID: Arbitrary<string> = fc.constantFrom('a', 'b', 'c', 'd', '1', '2');
export const AMOUNT: Arbitrary<number | string | null> = fc.constantFrom<number | string | null>(1, 2, 3, null);
export const VALUE: Arbitrary<string | number | null> = fc.oneof(ID, AMOUNT);

/** Shorthand for a statement with parameters. */
export const query = (sql: string, ...params: SqlStatement['params'][number][]): SqlStatement => ({ sql, params });

/**
 * Queries with many plans: by key, by index, by range, by several values, by full-text search, joined, nested,
 * recursive, grouped, counted and limited.
 */
export const QUERIES: Arbitrary<SqlStatement> = fc.oneof(
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
  fc
    .tuple(VALUE, VALUE)
    .map(([v, w]) => query('SELECT e.id FROM entry e, entry f WHERE e.account_id = ? AND f.account_id = ?', v, w)),
  VALUE.map((v) => query('SELECT a.name, e.note FROM account a JOIN entry e ON e.account_id = a.id WHERE a.id = ?', v)),
  VALUE.map((v) =>
    query(
      'SELECT a.name, count(e.id) FROM account a LEFT JOIN entry e ON e.account_id = a.id WHERE a.id = ? GROUP BY a.name',
      v,
    ),
  ),
  VALUE.map((v) => query('SELECT count(*) FROM entry WHERE account_id = ?', v)),
  VALUE.map((v) => query('SELECT max(note) FROM entry WHERE account_id = ?', v)),
  VALUE.map((v) => query('SELECT (SELECT name FROM account WHERE id = ?) AS name, count(*) FROM entry', v)),
  VALUE.map((v) => query('SELECT * FROM (SELECT account_id AS x, note FROM entry) WHERE x = ?', v)),
  VALUE.map((v) =>
    query('SELECT id FROM account WHERE EXISTS (SELECT 1 FROM entry WHERE account_id = account.id AND id = ?)', v),
  ),
  VALUE.map((v) => query('SELECT id FROM entry WHERE account_id = ? UNION SELECT id FROM account WHERE amount > 1', v)),
  VALUE.map((v) =>
    query(
      'WITH RECURSIVE up(id) AS (SELECT id FROM entry WHERE id = ? UNION SELECT e.id FROM entry e JOIN up ON e.account_id = up.id) SELECT * FROM up',
      v,
    ),
  ),
  VALUE.map((v) => query('SELECT id, row_number() OVER (ORDER BY note) FROM entry WHERE account_id = ?', v)),
  VALUE.map((v) => query('SELECT id FROM account WHERE id = CAST(? AS INTEGER)', v)),
  VALUE.map((v) => query('SELECT name, gross FROM account JOIN priced USING (id) WHERE id <> ?', v)),
  fc.constant(query('SELECT count(*) FROM entry JOIN entry AS other USING (account_id)')),
  fc.constant(query('SELECT note FROM entry NATURAL JOIN priced')),
  VALUE.map((v) => query('SELECT gross FROM priced WHERE id = ?', v)),
  VALUE.map((v) => query('SELECT id FROM priced WHERE gross = ?', v)),
  fc.constant(query("SELECT id FROM account WHERE id = 'a'")),
  fc.constant(query('SELECT id FROM account WHERE name = 1')),
  fc.constant(query('SELECT count(*) FROM account')),
  VALUE.map((v) => query('SELECT count(*), max(account_id) FROM entry WHERE account_id >= ?', v)),
  VALUE.map((v) => query('SELECT max(account_id) FROM entry WHERE account_id < ?', v)),
  VALUE.map((v) =>
    query('SELECT account_id, count(*) FROM entry WHERE account_id >= ? GROUP BY account_id LIMIT 1', v),
  ),
  VALUE.map((v) =>
    query('SELECT id, account_id FROM entry WHERE account_id >= ? ORDER BY account_id, rowid LIMIT 1', v),
  ),
  VALUE.map((v) => query('SELECT account_id FROM entry WHERE account_id < ? ORDER BY account_id DESC LIMIT 2', v)),
  fc
    .tuple(VALUE, VALUE)
    .map(([v, w]) =>
      query(
        'SELECT id, account_id FROM entry WHERE account_id BETWEEN ? AND ? ORDER BY account_id DESC, rowid DESC LIMIT 1',
        v,
        w,
      ),
    ),
  VALUE.map((v) => query('SELECT id FROM account WHERE id > ? AND amount IS NOT NULL ORDER BY id LIMIT ?', v, 2)),
  VALUE.map((v) => query('SELECT DISTINCT account_id FROM entry WHERE account_id >= ? ORDER BY account_id LIMIT 2', v)),
  VALUE.map((v) =>
    query(
      'SELECT a.id, e.note FROM account a JOIN entry e ON e.account_id = a.id WHERE a.id >= ? ORDER BY a.id LIMIT 2',
      v,
    ),
  ),
  VALUE.map((v) =>
    query(
      'SELECT id, (SELECT name FROM account WHERE id = account_id) FROM entry WHERE account_id > ? ORDER BY account_id, rowid LIMIT 1',
      v,
    ),
  ),
  VALUE.map((v) => query('SELECT id, rate FROM account WHERE rate >= ? ORDER BY rate, rowid LIMIT 1', v)),
  fc.tuple(AMOUNT, VALUE).map(([v, w]) => query('SELECT count(*) FROM account WHERE rate > ? AND rate <= ?', v, w)),
  fc.constant(query('SELECT rate, id FROM account ORDER BY rate DESC, rowid DESC LIMIT 2')),
  fc.constant(query('SELECT id, amount FROM account ORDER BY id LIMIT 2')),
  fc.constant(query('SELECT id, amount FROM account ORDER BY id DESC LIMIT 2')),
  fc.constant(query('SELECT amount, id FROM account ORDER BY id LIMIT 1 OFFSET 1')),
  ID.map((v) =>
    query('SELECT id FROM entry WHERE rowid IN (SELECT rowid FROM entry_search WHERE entry_search MATCH ?)', v),
  ),
  ID.map((v) => query('SELECT count(*) FROM entry_search WHERE entry_search MATCH ?', v)),
  ID.map((v) =>
    query(
      'SELECT e.id, e.account_id FROM entry_search JOIN entry e ON e.rowid = entry_search.rowid WHERE entry_search MATCH ? ORDER BY rank, e.id',
      v,
    ),
  ),
  fc
    .tuple(VALUE, ID)
    .map(([v, w]) =>
      query(
        'SELECT id, account_id FROM entry WHERE account_id >= ? AND rowid IN (SELECT rowid FROM entry_search WHERE entry_search MATCH ?) ORDER BY account_id, rowid LIMIT 1',
        v,
        w,
      ),
    ),
  fc
    .tuple(ID, ID)
    .map(([v, w]) =>
      query(
        'SELECT a.id FROM account a WHERE a.id = ? AND EXISTS (SELECT 1 FROM entry_search WHERE entry_search MATCH ?)',
        v,
        w,
      ),
    ),
);

export const WRITES: Arbitrary<SqlStatement> = fc.oneof(
  fc
    .tuple(ID, VALUE, AMOUNT)
    .map(([id, name, amount]) =>
      query('INSERT OR IGNORE INTO account (id, name, amount) VALUES (?, ?, ?)', id, name, amount),
    ),
  fc
    .tuple(ID, VALUE)
    .map(([id, account]) =>
      query(
        'INSERT OR IGNORE INTO entry (id, account_id) VALUES (?, (SELECT id FROM account WHERE id = ?))',
        id,
        account,
      ),
    ),
  fc.tuple(ID, AMOUNT).map(([id, net]) => query('INSERT OR REPLACE INTO priced (id, net) VALUES (?, ?)', id, net)),
  fc.tuple(AMOUNT, ID).map(([net, id]) => query('UPDATE priced SET net = ? WHERE id = ?', net, id)),
  fc.tuple(AMOUNT, ID).map(([amount, id]) => query('UPDATE account SET amount = ? WHERE id = ?', amount, id)),
  fc
    .tuple(fc.oneof(AMOUNT, fc.constantFrom('10', ' 2', '1.5')), ID)
    .map(([rate, id]) => query('UPDATE account SET rate = ? WHERE id = ?', rate, id)),
  fc.tuple(VALUE, ID).map(([name, id]) => query('UPDATE OR IGNORE account SET name = ? WHERE id = ?', name, id)),
  fc.tuple(ID, ID).map(([note, id]) => query('UPDATE entry SET note = ? WHERE id = ?', note, id)),
  fc
    .tuple(ID, ID)
    .map(([account, id]) =>
      query('UPDATE entry SET account_id = (SELECT id FROM account WHERE id = ?) WHERE id = ?', account, id),
    ),
  fc.tuple(ID, ID).map(([to, from]) => query('UPDATE OR IGNORE account SET id = ? WHERE id = ?', to, from)),
  ID.map((id) => query('DELETE FROM entry WHERE id = ?', id)),
  ID.map((id) => query('DELETE FROM account WHERE id = ?', id)),
);

/** Rows that the writes can find, with references among them. */
export const SEED: readonly SqlStatement[] = ['a', 'b', 'c'].flatMap((id) => [
  query('INSERT INTO account (id, name, amount) VALUES (?, ?, 1)', id, id),
  query('INSERT INTO entry (id, account_id, note) VALUES (?, ?, ?)', id, id, id),
]);
