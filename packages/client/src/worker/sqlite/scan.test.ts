import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeColumn } from '../../rpc/rows-transfer.ts';
import { Connection } from './connection.ts';
import { encodeRows, RowsEncoder } from './encode-rows.ts';
import { loadSqlite } from './load-sqlite.node.ts';

const NEVER = 0;
const AS_IT_PAYS = 1;
const ALWAYS = 2;
const ROWS = 3000;

const runtime = await loadSqlite();
const setMode = (mode: 0 | 1 | 2): number => runtime.module._rockpool_scan_mode(mode, 0);

let connection: Connection;
beforeEach(() => {
  connection = new Connection(runtime, { path: ':memory:' });
  connection.exec(`
    CREATE TABLE entry (id INTEGER PRIMARY KEY, day TEXT, category INTEGER, amount INTEGER, owner TEXT);
    CREATE TABLE visit (id TEXT, day INTEGER, amount INTEGER);
    CREATE INDEX visit_day ON visit (day, amount);
    CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT, factor INTEGER);
    CREATE TABLE person (id TEXT PRIMARY KEY NOT NULL, name TEXT) WITHOUT ROWID;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO entry SELECT i, date('2020-01-01', '+' || (i % 90) || ' days'), i % 11, i * 31 % 1000, 'p' || (i % 13) FROM n;
    INSERT INTO visit SELECT 'v' || id, id, id % 7 FROM entry;
    INSERT INTO category SELECT id - 1, 'category ' || id, id FROM entry LIMIT 10;
    INSERT INTO person SELECT 'p' || id, 'person ' || id FROM entry LIMIT 10;`);
});
afterEach(() => {
  setMode(AS_IT_PAYS);
  connection.close();
});

function run(sql: string): unknown[][] {
  const statement = connection.prepare(sql);
  try {
    const { columns, rowCount } = encodeRows(statement);
    return columns.map((column) => [...decodeColumn(column, rowCount)]);
  } finally {
    statement.release();
  }
}

/** How EXPLAIN describes the loops of a query. */
const loopsOf = (sql: string): unknown[] =>
  connection
    .rows(`EXPLAIN ${sql}`)
    .filter((row) => row[1] === 'Next')
    .map((row) => row[7]);

it.each([
  'SELECT count(amount) FROM entry',
  'SELECT sum(amount) FROM entry WHERE category = 3',
  'SELECT day, sum(amount) FROM entry GROUP BY day',
  'SELECT id, day FROM entry',
  'SELECT sum(amount) FROM entry WHERE id > 20',
  'SELECT category, sum(amount) FROM entry WHERE id BETWEEN 20 AND 2990 GROUP BY category',
  'SELECT count(*) FROM visit WHERE day > 0',
])('every run of %s executes nearly all rows in batches', (sql) => {
  for (let time = 0; time < 3; time++) {
    setMode(AS_IT_PAYS);
    run(sql);
    expect(setMode(AS_IT_PAYS)).toBeGreaterThan(ROWS * 0.9);
  }
});

it.each([
  ['texts of one length and one end', "'group ' || (g % 7) || ' of the same end'"],
  ['more short texts than places', "printf('%04d', g)"],
  ['more long texts than places', "printf('text %08d', g)"],
  ['numbers of one place', 'g % 9 * 4096 + g % 3'],
])('a batch finds the groups of %s', (_, key) => {
  // Every tenth row begins a group, and the others belong to one that began before.
  connection.exec(`
    CREATE TABLE item (key, amount INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000),
      item(i, g) AS (SELECT i, iif(i % 10 = 0, i / 10, i * 7919 % (i / 10 + 1)) FROM n)
    INSERT INTO item SELECT ${key}, i FROM item;`);
  const sql = 'SELECT key, count(*), sum(amount) FROM item GROUP BY key';
  setMode(NEVER);
  const expected = run(sql);
  setMode(AS_IT_PAYS);
  expect(run(sql)).toEqual(expected);
  expect(setMode(AS_IT_PAYS)).toBeGreaterThan(20_000);
});

it('groups over a range of an index are executed in batches from the second run, when the first row of the range is known', () => {
  for (const least of [0, 0.9, 0.9]) {
    setMode(AS_IT_PAYS);
    run('SELECT +amount, sum(day) FROM visit WHERE day BETWEEN 1 AND 2990 GROUP BY +amount');
    expect(setMode(AS_IT_PAYS)).toBeGreaterThanOrEqual(ROWS * least);
  }
});

describe('EXPLAIN', () => {
  it.each([
    ['SELECT sum(amount) FROM entry WHERE category = 3', ['operators in batches']],
    ['SELECT avg(amount * 2) FROM entry WHERE category = 3', ['operators in batches']],
    ['SELECT avg(amount / 2) FROM entry WHERE category = 3', ['operators filter in batches']],
    ['SELECT amount * 2 FROM entry', ['operators in batches']],
    ['SELECT amount / 2 FROM entry', ['operators']],
    ['SELECT name FROM entry JOIN category ON category.id = entry.category', ['operators']],
    ['SELECT person.name FROM entry LEFT JOIN person ON person.id = entry.owner', ['operators']],
    ['SELECT count(*) FROM entry WHERE id BETWEEN 5 AND 500', ['operators in batches']],
    ['SELECT category, sum(amount) FROM entry WHERE id < 500 GROUP BY category', ['operators in batches']],
    ['SELECT sum(amount) FROM visit WHERE day = 7 AND amount > 3', ['operators in batches']],
    ['SELECT day, amount FROM visit ORDER BY day', ['operators in batches']],
    ['SELECT id FROM visit WHERE day > 7', ['SQLite:DeferredSeek']],
    [
      'SELECT sum(amount) FROM visit WHERE day > 7 AND +amount IN (SELECT amount FROM entry)',
      ['SQLite:MakeRecord', 'SQLite:OpenEphemeral'],
    ],
    ['SELECT day FROM entry ORDER BY day', ['SQLite:MakeRecord']],
    ['SELECT day FROM entry WHERE amount > 5 ORDER BY day', ['operators filter in batches:MakeRecord']],
  ])('describes the loops of %s as %j', (sql, loops) => {
    expect(loopsOf(sql)).toEqual(loops);
  });

  it('describes no loop in descending order', () => {
    expect(loopsOf('SELECT amount FROM visit ORDER BY day DESC')).toEqual([]);
  });
});

it.each([
  'SELECT category, count(*), group_concat(owner ORDER BY amount) FROM entry GROUP BY category',
  'SELECT category, group_concat(owner ORDER BY amount), count(*) FROM entry GROUP BY category',
  'SELECT category, sum(amount), json_group_array(DISTINCT owner ORDER BY owner) FROM entry GROUP BY category',
])('an aggregate with ORDER BY gets every row of its group: %s', (sql) => {
  setMode(NEVER);
  const expected = run(sql);
  for (const mode of [AS_IT_PAYS, ALWAYS] as const) {
    setMode(mode);
    for (let time = 0; time < 2; time++) expect(run(`${sql} `)).toEqual(expected);
  }
});

describe('a range', () => {
  it.each([
    'SELECT a.id, (SELECT sum(amount) FROM entry b WHERE b.id BETWEEN a.id AND a.id + 150) FROM entry a WHERE a.id % 40 = 0',
    'SELECT a.id, (SELECT count(*) FROM visit WHERE visit.day > a.id AND visit.day <= a.id + a.amount) FROM entry a WHERE a.id % 40 = 0',
    'SELECT a.id, (SELECT group_concat(n) FROM (SELECT count(*) AS n FROM entry b WHERE b.id > a.id - 90 AND b.id < a.id GROUP BY b.category)) FROM entry a WHERE a.id % 90 = 0',
    'SELECT a.id, (SELECT group_concat(n) FROM (SELECT sum(day) AS n FROM visit WHERE day >= a.id - 90 AND day < a.id GROUP BY +amount % 5)) FROM entry a WHERE a.id % 90 = 0',
    'SELECT sum(v.amount), count(v.day) FROM entry LEFT JOIN visit v ON v.day BETWEEN entry.id - 2 AND entry.amount',
    "SELECT count(*), sum(amount) FROM entry WHERE id > 17.5 AND id < '2900.5'",
    'SELECT category, count(*) FROM entry WHERE id > 17.5 GROUP BY category',
    "SELECT count(*) FROM entry WHERE id < 'text'",
    'SELECT count(*) FROM entry WHERE id < NULL',
    'SELECT count(*), sum(amount) FROM visit WHERE day < (SELECT 2000) AND day > (SELECT NULL)',
  ])('has the rows that SQLite finds, each time that its loop begins: %s', (sql) => {
    setMode(NEVER);
    const expected = run(sql);
    for (const mode of [ALWAYS, AS_IT_PAYS] as const) {
      setMode(mode);
      expect(run(`${sql} `)).toEqual(expected);
      expect(run(`${sql} `)).toEqual(expected);
    }
  });
});

describe('many ranges', () => {
  const sumsOf = (length: number): string =>
    `SELECT (SELECT sum(amount) FROM visit WHERE day >= start.id AND day < start.id + ${length}) FROM entry start WHERE start.id % ${length} = 0`;

  it('are soon executed without batches if each is only a little longer than the part that is executed before batches are tried', () => {
    run(sumsOf(70));
    setMode(AS_IT_PAYS);
    run(sumsOf(70));
    expect(setMode(AS_IT_PAYS)).toBeLessThan(30);
  });

  it('are executed in batches if each is much longer than that part', () => {
    run(sumsOf(600));
    setMode(AS_IT_PAYS);
    run(sumsOf(600));
    expect(setMode(AS_IT_PAYS)).toBeGreaterThan(ROWS * 0.6);
  });
});

it('a statement that SQLite compiles again after a schema change returns the rows of the new schema', () => {
  for (const mode of [ALWAYS, AS_IT_PAYS] as const) {
    setMode(mode);
    const sql = `SELECT count(*), sum(amount), ${mode} FROM visit NOT INDEXED WHERE amount > 2`;
    const before = run(sql);
    connection.exec(`ALTER TABLE visit ADD COLUMN note${mode} TEXT; UPDATE visit SET amount = amount + 1`);
    const after = run(sql);
    setMode(NEVER);
    expect(after).toEqual(run(`${sql} `));
    expect(after).not.toEqual(before);
  }
});

it.each([
  'SELECT count(*) FROM category CROSS JOIN entry',
  'SELECT sum(amount) FROM category CROSS JOIN person CROSS JOIN entry',
  'SELECT 7 FROM category CROSS JOIN person CROSS JOIN category other',
  'SELECT count(*), sum(factor) FROM entry CROSS JOIN category',
  'SELECT factor, (SELECT count(*) FROM person CROSS JOIN category other WHERE other.factor > category.factor) FROM category',
])('a join visits every row of a table each time the loop over that table begins: %s', (sql) => {
  setMode(NEVER);
  const expected = run(sql);
  for (const mode of [ALWAYS, AS_IT_PAYS] as const) {
    setMode(mode);
    expect(run(`${sql} `)).toEqual(expected);
    expect(run(`${sql} `)).toEqual(expected);
  }
});

describe('a row that was looked up', () => {
  const SQL =
    'SELECT entry.id, category.name, person.name FROM entry LEFT JOIN category ON category.id = category LEFT JOIN person ON person.id = owner';

  /** Takes the rows in parts, and changes the database before each part. */
  function runWith(changes: readonly string[], mode: 0 | 2): unknown[] {
    setMode(mode);
    const statement = connection.prepare(mode === NEVER ? SQL : `${SQL} `);
    const encoder = new RowsEncoder(statement);
    for (const change of changes) {
      encoder.take(100);
      connection.exec(change);
    }
    while (encoder.take(1000));
    const { columns, rowCount } = encoder.finish();
    statement.release();
    return columns.map((column) => [...decodeColumn(column, rowCount)]);
  }

  it.each([
    'SELECT count(*), e.day, other.day FROM entry e CROSS JOIN entry other ON other.id = e.amount * 3 + e.id % 3',
    'SELECT count(other.day), other.day, e.day FROM entry e LEFT JOIN entry other ON other.id = e.id * 7 % 2999',
    'SELECT other.day, other.owner, e.id FROM entry e LEFT JOIN entry other ON other.id = e.id * 7 % 2999',
    'SELECT e.category, max(other.day), min(other.owner) FROM entry e LEFT JOIN entry other ON other.id = e.id * 7 % 2999 GROUP BY e.category',
  ])('is the row that SQLite finds if few keys occur twice: %s', (sql) => {
    setMode(NEVER);
    const expected = run(sql);
    setMode(ALWAYS);
    expect(run(`${sql} `)).toEqual(expected);
    expect(loopsOf(sql)).toEqual([expect.stringMatching(/^operators/)]);
  });

  it.each([
    [
      'a commit',
      ["UPDATE category SET name = 'new ' || id", 'DELETE FROM person', "INSERT INTO person VALUES ('p12', 'late')"],
    ],
    ['an open transaction', ['BEGIN', "UPDATE category SET name = 'open ' || id", 'COMMIT']],
    ['a rollback', ['BEGIN', "UPDATE person SET name = 'undone'", 'ROLLBACK']],
    ['a rollback to a savepoint', ['BEGIN; SAVEPOINT s', 'DELETE FROM category', 'ROLLBACK TO s', 'COMMIT']],
  ])('is looked up again after %s', (_, changes) => {
    const expected = runWith(changes, NEVER);
    connection.exec(`DELETE FROM category; INSERT INTO category SELECT id - 1, 'category ' || id, id FROM entry LIMIT 10;
      DELETE FROM person; INSERT INTO person SELECT 'p' || id, 'person ' || id FROM entry LIMIT 10;`);
    expect(runWith(changes, ALWAYS)).toEqual(expected);
  });
});
