import type { Target } from '../report/target.ts';

/** The SQL dialect in which a subject fills its tables. */
export type Dialect = 'sqlite' | 'duckdb';

/**
 * The statements that fill `entry` with `rows` rows of about 150 bytes, `ledger` with as many of 30, `visit` with as
 * many and an index, and `category` with ten.
 */
export function setupOf(dialect: Dialect, rows: number): string {
  if (dialect === 'duckdb') {
    return `
CREATE TABLE entry AS SELECT i::INTEGER AS id, strftime(DATE '2020-01-01' + (i % 1500)::INTEGER, '%Y-%m-%d') AS day,
  (i * 7919 % 10)::INTEGER AS category, (i * 31 % 10000)::INTEGER AS amount, ((i * 37 % 100000) / 100.0)::DOUBLE AS price,
  'entry number ' || i || CASE WHEN i % 50 = 0 THEN ' Coffee with milk' ELSE ' lunch at work today' END AS note
  FROM range(1, ${rows + 1}) t(i);
CREATE TABLE ledger AS SELECT id, day, category, amount, price FROM entry;
CREATE TABLE visit AS SELECT id, day, amount FROM entry;
CREATE TABLE category AS SELECT id - 1 AS id, 'category ' || id AS name, id AS factor FROM entry ORDER BY id LIMIT 10;`;
  }
  return `
CREATE TABLE entry (id INTEGER PRIMARY KEY, day TEXT, category INTEGER, amount INTEGER, price REAL, note TEXT, doc TEXT);
CREATE TABLE ledger (id INTEGER PRIMARY KEY, day TEXT, category INTEGER, amount INTEGER, price REAL);
CREATE TABLE visit (id INTEGER PRIMARY KEY, day TEXT, amount INTEGER);
CREATE INDEX visit_day ON visit (day, amount);
CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT, factor INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
INSERT INTO entry SELECT i, date('2020-01-01', '+' || (i % 1500) || ' days'), i * 7919 % 10, i * 31 % 10000, (i * 37 % 100000) / 100.0,
  'entry number ' || i || CASE WHEN i % 50 = 0 THEN ' Coffee with milk' ELSE ' lunch at work today' END,
  json_object('x', i % 100, 'tags', json_array('a', 'b'), 'y', 'text ' || i) FROM n;
INSERT INTO ledger SELECT id, day, category, amount, price FROM entry;
INSERT INTO visit SELECT id, day, amount FROM entry ORDER BY day;
INSERT INTO category SELECT id - 1, 'category ' || id, id FROM entry LIMIT 10;`;
}

export interface Workload {
  readonly name: string;
  readonly sql: string;
  /** The setup that DuckDB needs for the same result, or null if it would download an extension first. */
  readonly duckdb?: string | null;
  /** The target: how many times as fast the query is with scans as without. */
  readonly times: number;
}

export const WORKLOADS: readonly Workload[] = [
  { name: 'count', sql: 'SELECT count(amount) FROM entry', times: 4 },
  { name: 'sum', sql: 'SELECT sum(amount) FROM entry', times: 4 },
  { name: 'filter and sum', sql: 'SELECT sum(amount) FROM entry WHERE category = 3', times: 3 },
  {
    name: 'expression',
    sql: 'SELECT avg(amount * price) FROM entry WHERE amount BETWEEN 100 AND 5000',
    times: 1,
  },
  {
    name: 'GROUP BY ten',
    sql: 'SELECT category, count(*), sum(amount), max(price) FROM entry GROUP BY category',
    times: 10,
  },
  {
    name: 'GROUP BY month',
    sql: "SELECT substr(day, 1, 7) AS month, count(*), sum(amount) FROM entry WHERE day BETWEEN '2021-01-01' AND '2023-01-01' GROUP BY month",
    times: 10,
  },
  { name: 'GROUP BY day', sql: 'SELECT day, sum(amount) FROM entry GROUP BY day', times: 10 },
  { name: 'top 10', sql: 'SELECT id, note, amount FROM entry ORDER BY price DESC LIMIT 10', times: 1 },
  {
    name: 'LIKE',
    sql: "SELECT count(*) FROM entry WHERE note LIKE '%coffee%'",
    duckdb: "SELECT count(*) FROM entry WHERE note ILIKE '%coffee%'",
    times: 2,
  },
  { name: 'JSON filter', sql: "SELECT count(*) FROM entry WHERE doc ->> '$.x' = 5", duckdb: null, times: 2 },
  {
    name: 'join and sum',
    sql: 'SELECT sum(entry.amount * factor) FROM entry JOIN category ON category.id = entry.category',
    times: 1,
  },
  {
    name: '50,000 rows',
    sql: 'SELECT id, day, category, amount, price, note FROM entry LIMIT 50000',
    times: 5,
  },
  { name: 'narrow sum', sql: 'SELECT sum(amount) FROM ledger', times: 4 },
  { name: 'narrow filter and sum', sql: 'SELECT sum(amount) FROM ledger WHERE category = 3', times: 3 },
  {
    name: 'narrow GROUP BY ten',
    sql: 'SELECT category, count(*), sum(amount), max(price) FROM ledger GROUP BY category',
    times: 10,
  },
  {
    name: 'narrow join',
    sql: 'SELECT category.name, sum(amount) FROM ledger JOIN category ON category.id = ledger.category GROUP BY category.name',
    times: 1,
  },
  {
    name: 'range of rowids',
    sql: 'SELECT category, count(*), sum(amount) FROM entry WHERE id BETWEEN 50000 AND 250000 GROUP BY category',
    times: 3,
  },
  {
    name: 'count in a range of an index',
    sql: "SELECT count(*) FROM visit WHERE day BETWEEN '2021-01-01' AND '2023-06-01'",
    times: 3,
  },
  {
    name: 'sum in a range of an index',
    sql: "SELECT sum(amount) FROM visit WHERE day BETWEEN '2021-01-01' AND '2023-06-01'",
    times: 2,
  },
];

/** For example `1000K-sum`: the query `sum` over a million rows. */
export const workloadName = (rows: number, name: string): string => `${rows / 1000}K-${name}`;

/** Targets relative to the same build without scans. */
export function targetsFor(sizes: readonly number[]): Target[] {
  return sizes.flatMap((rows) =>
    WORKLOADS.flatMap(({ name, times }): Target[] => {
      const line = { workload: workloadName(rows, name), title: name, variant: '' };
      return [
        { ...line, atMost: times === 1 ? 1.05 : Number((1 / times).toFixed(2)), of: 'without scans' },
        {
          ...line,
          title: `${name}, first run`,
          variant: 'first run',
          atMost: 1,
          of: 'without scans (first run)',
        },
      ];
    }),
  );
}
