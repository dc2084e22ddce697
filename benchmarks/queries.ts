// `npm run bench -- queries`: queries that read whole tables, in our build of SQLite with scans (docs/decisions/0076) and
// without, and in native SQLite (node:sqlite). Processor time on one thread, in memory. `--rows N`, `--quick`.
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Connection } from '../packages/client/src/worker/sqlite/connection.ts';
import { encodeRows } from '../packages/client/src/worker/sqlite/encode-rows.ts';
import { loadSqlite } from '../packages/client/src/worker/sqlite/load-sqlite.node.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, rows: { type: 'string' } },
});
const ROWS = Number(flags.rows ?? (flags.quick ? 30_000 : 300_000));
const ROUNDS = flags.quick ? 3 : 7;

const SETUP = `
CREATE TABLE entry (id INTEGER PRIMARY KEY, day TEXT, category INTEGER, amount INTEGER, price REAL, note TEXT, doc TEXT);
CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT, factor INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO entry SELECT i, date('2020-01-01', '+' || (i % 1500) || ' days'), i * 7919 % 10, i * 31 % 10000, (i * 37 % 100000) / 100.0,
  'entry number ' || i || CASE WHEN i % 50 = 0 THEN ' Coffee with milk' ELSE ' lunch at work today' END,
  json_object('x', i % 100, 'tags', json_array('a', 'b'), 'y', 'text ' || i) FROM n;
INSERT INTO category SELECT id - 1, 'category ' || id, id FROM entry LIMIT 10;`;

const QUERIES: readonly (readonly [name: string, sql: string])[] = [
  ['count of a column', 'SELECT count(amount) FROM entry'],
  ['sum', 'SELECT sum(amount) FROM entry'],
  ['filter and sum', 'SELECT sum(amount) FROM entry WHERE category = 3'],
  ['average of an expression', 'SELECT avg(amount * price) FROM entry WHERE amount BETWEEN 100 AND 5000'],
  ['GROUP BY ten categories', 'SELECT category, count(*), sum(amount), max(price) FROM entry GROUP BY category'],
  [
    'GROUP BY month',
    "SELECT substr(day, 1, 7) AS month, count(*), sum(amount) FROM entry WHERE day BETWEEN '2021-01-01' AND '2023-01-01' GROUP BY month",
  ],
  ['GROUP BY day', 'SELECT day, sum(amount) FROM entry GROUP BY day'],
  ['top 10', 'SELECT id, note, amount FROM entry ORDER BY price DESC LIMIT 10'],
  ['LIKE', "SELECT count(*) FROM entry WHERE note LIKE '%coffee%'"],
  ['JSON filter', "SELECT count(*) FROM entry WHERE doc ->> '$.x' = 5"],
  ['join and sum', 'SELECT sum(entry.amount * factor) FROM entry JOIN category ON category.id = entry.category'],
  ['50,000 rows of six columns', 'SELECT id, day, category, amount, price, note FROM entry LIMIT 50000'],
];

const runtime = await loadSqlite();
const connection = new Connection(runtime, { path: ':memory:' });
connection.exec(SETUP);
const native = new DatabaseSync(':memory:');
native.exec(SETUP);

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** A statement of its own for each mode, because a statement keeps its translation. */
function ours(sql: string, mode: 0 | 1): void {
  runtime.module._rockpool_scan_mode(mode, 0);
  const statement = connection.prepare(mode === 0 ? sql : `${sql} `);
  encodeRows(statement);
  statement.release();
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const cells = (values: readonly string[]): string => `| ${values.join(' | ')} |`;

console.log(`${ROWS.toLocaleString('en')} rows, ms of CPU, median of ${ROUNDS} alternating rounds\n`);
console.log(
  cells(['query', 'SQLite in WebAssembly', 'with scans', 'ratio', 'ratio of the first run', 'native SQLite']),
);
console.log(cells(['---', '---', '---', '---', '---', '---']));
for (const [name, sql] of QUERIES) {
  const without: number[] = [];
  const withScans: number[] = [];
  const natively: number[] = [];
  const prepared = native.prepare(sql);
  for (let round = 0; round < ROUNDS; round++) {
    without.push(cpuMs(() => ours(sql, 0)));
    withScans.push(cpuMs(() => ours(sql, 1)));
    natively.push(cpuMs(() => prepared.all()));
  }
  const [a, b, c] = [median(without), median(withScans), median(natively)];
  const first = (without[0] ?? 0) / (withScans[0] ?? 1);
  console.log(
    cells([name, a.toFixed(1), b.toFixed(1), `${(a / b).toFixed(1)} ×`, `${first.toFixed(1)} ×`, c.toFixed(1)]),
  );
}
connection.close();
native.close();
