// Runs scripts of SQLite's sqllogictest (https://sqlite.org/sqllogictest) with scans in all loops from the first row,
// and compares the answers with those in the scripts. Usage: node sqllogictest.mjs FOLDER|FILE... Folders are searched
// for *.test. Nothing is fetched: the scripts are not part of this repository.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { decodeColumn } from '../../src/rpc/rows-transfer.ts';
import { Connection } from '../../src/worker/sqlite/connection.ts';
import { encodeRows } from '../../src/worker/sqlite/encode-rows.ts';
import { loadSqlite } from '../../src/worker/sqlite/load-sqlite.node.ts';

const NEVER = 0;
const ALWAYS = 2;

const runtime = await loadSqlite();
const counts = { files: 0, queries: 0, rows: 0, different: 0, alsoWithoutScans: 0 };
const files = process.argv.slice(2).flatMap(scriptsIn);
if (files.length === 0) throw new Error('Usage: node sqllogictest.mjs FOLDER|FILE...');
for (const file of files) runScript(file);
console.log(`${counts.files} scripts, ${counts.queries} queries, ${counts.rows} rows in batches, ${counts.different} differences; ${counts.alsoWithoutScans} answers differ without scans, too`);
process.exitCode = counts.different > 0 ? 1 : 0;

/** @param {string} path @returns {string[]} */
function scriptsIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test'))
    .map((name) => join(path, name))
    .toSorted();
}

/** @param {string} file */
function runScript(file) {
  counts.files++;
  const connection = new Connection(runtime, { path: ':memory:' });
  let threshold = 8;
  for (const record of readFileSync(file, 'utf8').replaceAll('\r', '').split(/\n{2,}/)) {
    const lines = record.split('\n').filter((line) => !line.startsWith('#'));
    let isSkipped = false;
    while (/^(?:skipif|onlyif) /.test(lines[0] ?? '')) {
      const [condition, engine] = (lines.shift() ?? '').split(/\s+/);
      isSkipped ||= (engine === 'sqlite') === (condition === 'skipif');
    }
    const [kind, types = '', sort = 'nosort'] = (lines.shift() ?? '').trim().split(/\s+/);
    if (isSkipped || kind === '') continue;
    if (kind === 'halt') break;
    if (kind === 'hash-threshold') threshold = Number(types);
    else if (kind === 'statement') runStatement(connection, lines.join('\n'), types === 'error');
    else if (kind === 'query') runQuery(connection, file, lines, { types, sort, threshold });
    else throw new Error(`${file}: unknown record ${kind}`);
  }
  connection.close();
}

/** @param {Connection} connection @param {string} sql @param {boolean} fails */
function runStatement(connection, sql, fails) {
  runtime.module._rockpool_scan_mode(NEVER, 0);
  try {
    connection.exec(sql);
  } catch (error) {
    if (!fails) throw error;
    return;
  }
  if (fails) throw new Error(`this should fail: ${sql}`);
}

/** @typedef {{ types: string, sort: string, threshold: number }} Format */

/** @param {Connection} connection @param {string} file @param {string[]} lines @param {Format} format */
function runQuery(connection, file, lines, format) {
  const end = lines.indexOf('----');
  const sql = lines.slice(0, end < 0 ? undefined : end).join('\n');
  const expected = end < 0 ? undefined : lines.slice(end + 1).filter((line) => line !== '').join('\n');
  counts.queries++;
  runtime.module._rockpool_scan_mode(ALWAYS, 0);
  const found = answer(connection, sql, format);
  counts.rows += runtime.module._rockpool_scan_mode(NEVER, 0);
  if (found === expected) return;
  // Not an error if SQLite alone gives the same answer: numbers may round either way, or the script has no answer.
  const withoutScans = answer(connection, `${sql} `, format);
  if (found !== withoutScans) {
    counts.different++;
    console.log(`${file}: ${sql}\n${found}\ninstead of\n${withoutScans}`);
  } else if (expected !== undefined) {
    counts.alsoWithoutScans++;
  }
}

/** @param {Connection} connection @param {string} sql @param {Format} format @returns {string} as a script writes it */
function answer(connection, sql, { types, sort, threshold }) {
  const statement = connection.prepare(sql);
  let rows;
  try {
    const { columns, rowCount } = encodeRows(statement);
    const values = columns.map((column) => [...decodeColumn(column, rowCount)]);
    rows = Array.from({ length: rowCount }, (_, row) => values.map((column, index) => text(/** @type {Value} */ (column[row]), types[index] ?? 'T')));
  } catch (error) {
    // Scripts have no answer to a query that fails, such as a sum that overflows.
    if (!(error instanceof RockpoolError)) throw error;
    return '';
  } finally {
    statement.release();
  }
  /** @type {string[]} */
  let flat;
  if (sort === 'rowsort') flat = rows.toSorted((a, b) => order(a.join('\0'), b.join('\0'))).flat();
  else flat = sort === 'valuesort' ? rows.flat().toSorted(order) : rows.flat();
  if (threshold === 0 || flat.length <= threshold) return flat.join('\n');
  const hash = createHash('md5').update(flat.map((value) => `${value}\n`).join('')).digest('hex');
  return `${flat.length} values hashing to ${hash}`;
}

/** @param {string} a @param {string} b @returns {number} */
function order(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** @typedef {null | number | bigint | string | Uint8Array} Value */

/** @param {Value} value @param {string} type @returns {string} */
function text(value, type) {
  if (value === null) return 'NULL';
  const string = value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value);
  if (type === 'I' && typeof value !== 'bigint') return String(Math.trunc(Number.parseFloat(string) || 0) + 0);
  if (type === 'R') return Number(value).toFixed(3);
  return string === '' ? '(empty)' : string.replaceAll(/[^ -~]/g, '@');
}
