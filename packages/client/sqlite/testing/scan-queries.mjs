// Generates databases and queries that compare scan.c with SQLite: tables of all types, layouts and page sizes, and
// queries of all shapes that scan.c translates, and of some that it does not.

import { aggregate, builtIn, column, condition, EDGES, expression, json, substr } from './scan-expressions.mjs';
import { makeLookupTable, makeTable } from './scan-tables.mjs';
import { pick, quote, random, times, value } from './scan-values.mjs';

/** @typedef {import('./scan-tables.mjs').Table} Table */

/**
 * `query`: has the same result with and without scans. `write`: changes the same rows with and without scans; it is
 * undone. `runs`: one prepared statement that is run several times. Its `sql` has parts between tabs: the statement,
 * then `=` and the values of its parameters for a run, or `!` and statements that change the database before the next
 * run.
 * @typedef {{ kind: 'database' | 'setup' | 'query' | 'write' | 'runs', sql: string }} Line
 */

/** @param {(n: number) => number} rnd @param {Table} table @param {Table} lookup @returns {string} a query that looks up rows of `lookup` */
function join(rnd, table, lookup) {
  const own = table.columns.map(({ name, type }) => ({ name: `t.${name}`, type }));
  const columns = [...own.slice(0, 6), ...lookup.columns];
  const both = { name: table.name, columns, rowid: null };
  const left = { name: table.name, columns: own, rowid: null };
  const on = pick(rnd, ['v.k = t.c1', 'v.k = t.c1', `v.k = ${own[3]?.name ?? 't.c1'}`, 'v.n = t.c0', 'v.n = t.c0', 'v.k IS t.c1', 'v.k = t.c0', lookup.rowid === null ? 'v.n = t.c2' : 'v.rowid = t.c0', lookup.rowid === null ? 'v.k = t.c1' : 'v.rowid = t.c2']);
  const more = rnd(4) === 0 ? ` AND ${condition(rnd, rnd(2) > 0 ? left : both, 0)}` : '';
  const second = rnd(4) === 0 ? ` ${pick(rnd, ['CROSS JOIN', 'LEFT JOIN'])} v AS w ON ${pick(rnd, ['w.n = t.c0', 'w.k = v.x', 'w.k = t.c1'])}` : '';
  if (second !== '') columns.push({ name: 'w.x', type: 'text' }, { name: 'w.n', type: 'int' });
  const from = ` FROM ${table.name} AS t ${pick(rnd, ['CROSS JOIN', 'JOIN', 'LEFT JOIN', 'LEFT JOIN'])} v ON ${on}${more}${second}`;
  const where = rnd(3) === 0 ? ` WHERE ${condition(rnd, both, rnd(2))}` : '';
  const some = () => (rnd(5) === 0 && lookup.rowid !== null ? lookup.rowid : column(rnd, both).name);
  switch (rnd(5)) {
    case 0:
      return `SELECT ${times(1 + rnd(3), () => aggregate(rnd, both)).join(', ')}${from}${where}`;
    case 1: {
      const key = some();
      return `SELECT ${key}, ${times(1 + rnd(2), () => aggregate(rnd, both)).join(', ')}${from}${where} GROUP BY ${key}`;
    }
    case 2:
      return `SELECT ${times(1 + rnd(3), some).join(', ')}${from}${where} ORDER BY ${some()}, ${some()} LIMIT ${1 + rnd(12)}`;
    default:
      return `SELECT ${times(1 + rnd(4), () => (rnd(3) > 0 ? some() : expression(rnd, both, 1))).join(', ')}${from}${where}${rnd(4) === 0 ? ` LIMIT ${rnd(30)}` : ''}`;
  }
}

/** @param {(n: number) => number} rnd @param {string} name @param {() => string} bound @returns {string} a condition that may be a range of an index or of rowids */
function range(rnd, name, bound) {
  switch (rnd(6)) {
    case 0: return `${name} BETWEEN ${bound()} AND ${bound()}`;
    case 1: return `${name} > ${bound()} AND ${name} <= ${bound()}`;
    case 2: return `${name} >= ${bound()} AND ${name} < ${bound()}`;
    case 3: return `${name} = ${bound()}`;
    case 4: return `${name} IN (${bound()}, ${bound()})`;
    default: return `${name} ${pick(rnd, ['<', '<=', '>', '>='])} ${bound()}`;
  }
}

/** @param {(n: number) => number} rnd @param {Table} table @returns {string} a query over a range of rowids, or of an index that has all of its columns */
function rangeQuery(rnd, table) {
  const isIndex = table.rowid === null || (table.indexed !== undefined && table.indexed.length > 0 && rnd(2) === 0);
  const columns = isIndex && table.indexed !== undefined && table.indexed.length > 0 ? table.indexed : table.columns;
  const own = { ...table, columns };
  const key = isIndex ? (columns[0] ?? { name: 'id', type: 'int' }) : { name: table.rowid ?? 'id', type: 'rowid' };
  const wide = key.type === 'rowid' ? ['0', '3', '60', '99999', '600000'] : ['0', '-5', '12', "''", "'b'", "'zz'", '9e99', "x'ff'"];
  const bound = () => (rnd(2) === 0 ? pick(rnd, wide) : key.type === 'rowid' ? pick(rnd, [String(rnd(120)), String(rnd(120)), String(rnd(400)), String(1001 * rnd(120)), '-1', '3.5', "'20'", "'x'", 'NULL', '9223372036854775807']) : value(rnd, key.type === 'json' ? 'text' : key.type));
  if (rnd(4) === 0) {
    // A subquery over a range whose bounds depend on the current row of the outer loop.
    const near = () => `y.${key.name} ${pick(rnd, ['+', '-'])} ${rnd(30)}`;
    const group = `+x.${column(rnd, own).name}`;
    return `SELECT y.${key.name}, (SELECT group_concat(n) FROM (SELECT count(*) || ',' || total(x.${column(rnd, own).name}) AS n FROM ${table.name} x WHERE ${range(rnd, `x.${key.name}`, rnd(3) > 0 ? near : () => `y.${key.name}`)} GROUP BY ${group})) FROM ${table.name} y LIMIT ${2 + rnd(6)}`;
  }
  const where = ` FROM ${table.name}${rnd(6) === 0 ? '' : ` WHERE ${range(rnd, key.name, bound)}${rnd(3) === 0 ? ` AND ${condition(rnd, own, 0)}` : ''}`}`;
  const some = () => (rnd(5) === 0 && table.rowid !== null ? table.rowid : column(rnd, own).name);
  switch (rnd(7)) {
    case 0: return `SELECT count(*)${where}`;
    case 1: return `SELECT ${times(1 + rnd(3), () => `${pick(rnd, ['sum', 'count', 'min', 'max', 'total'])}(${some()})`).join(', ')}${where}`;
    case 2: case 3: case 6: {
      // The plus keeps SQLite from taking the groups in the order of the index.
      const group = `+${some()}`;
      return `SELECT ${group}, count(*), sum(${some()}), max(${some()})${where} GROUP BY ${group}`;
    }
    case 4: return `SELECT ${times(1 + rnd(3), some).join(', ')}${where} ORDER BY +${some()}, ${some()} LIMIT ${1 + rnd(12)}`;
    default: return `SELECT ${times(1 + rnd(3), some).join(', ')}${where}`;
  }
}

/** @param {(n: number) => number} rnd @param {Table} table @returns {string} a query that filters and groups by what documents have */
function documentQuery(rnd, table) {
  const key = json(rnd, table);
  const where = ` FROM ${table.name}${rnd(2) > 0 ? '' : ` WHERE ${json(rnd, table)} ${pick(rnd, ['=', '<>', 'IS NOT', '>'])} ${pick(rnd, ['1', "'needle'", "'1'", '2.5', 'NULL'])}`}`;
  return rnd(3) > 0 ? `SELECT ${key}, count(*)${where} GROUP BY ${key}` : `SELECT ${key}, ${json(rnd, table)}${where}`;
}

/**
 * Makes a query of few parts, so that no part hides the effect of another.
 * @param {(n: number) => number} rnd @param {Table} table @param {Table} other @param {Table} lookup @returns {string}
 */
function plainQuery(rnd, table, other, lookup) {
  const from = ` FROM ${table.name}`;
  const { name } = column(rnd, table);
  switch (rnd(10)) {
    case 9: return `SELECT sum(c0), count(*)${from}`;
    case 8: {
      // Nested loops. The query need not use columns of every table.
      const both = [table, other].flatMap((one) => one.columns.slice(0, 4).map((part) => ({ ...part, name: `${one.name}.${part.name}` })));
      const joined = { name: '', columns: both, rowid: null };
      const where = rnd(2) > 0 ? '' : ` WHERE ${condition(rnd, joined, 0)}`;
      return `SELECT ${pick(rnd, ['count(*)', `sum(${column(rnd, joined).name})`, '7', `${column(rnd, joined).name}`])} FROM ${pick(rnd, [`${table.name} CROSS JOIN ${other.name}`, `${other.name} CROSS JOIN ${table.name}`, `v CROSS JOIN ${table.name} CROSS JOIN ${other.name}`])}${where}${rnd(2) > 0 ? '' : ' LIMIT 90'}`;
    }
    case 6: return `SELECT ${column(rnd, table, 'int').name} ${pick(rnd, ['%', '%', '/', '*', '+', '-'])} ${pick(rnd, EDGES)}${from}`;
    case 7: {
      const start = substr(rnd, table);
      return `SELECT ${start}, count(*)${from} GROUP BY ${start}`;
    }
    case 0: return `SELECT ${name}, count(*), sum(${column(rnd, table, 'int').name})${from} GROUP BY ${name}`;
    case 1: {
      const text = column(rnd, table, 'text').name;
      return `SELECT ${text}, count(*)${from} GROUP BY ${text}`;
    }
    case 2: return `SELECT count(*)${from} WHERE ${column(rnd, table, 'text').name} ${pick(rnd, ['', 'NOT '])}LIKE ${quote(pick(rnd, ['%needle%', '%needle%', '%b%', '%ab%']))}`;
    case 3: {
      const from = `${table.name} AS t ${pick(rnd, ['JOIN', 'LEFT JOIN'])} v`;
      return `SELECT t.c0, ${lookup.columns.at(-1)?.name}, ${column(rnd, lookup).name} FROM ${from} ON ${pick(rnd, ['v.k = t.c1', 'v.n = t.c0', lookup.rowid === null ? 'v.k = t.c1' : 'v.rowid = t.c0'])}`;
    }
    case 4: return `SELECT ${name}, count(*)${from}${table.rowid === null ? '' : ` WHERE rowid ${pick(rnd, ['>', '>', '>=', '<'])} ${rnd(2) > 0 ? rnd(120) : 1001 * rnd(120)}`} GROUP BY ${name}`;
    default: return `SELECT ${pick(rnd, ['sum', 'sum', 'avg', 'count', 'min', 'max'])}(${rnd(2) > 0 ? name : column(rnd, table, 'int').name})${from}${rnd(2) > 0 ? '' : ` WHERE ${condition(rnd, table, 0)}`}`;
  }
}

/**
 * Makes a query of a shape that is rare in apps.
 * @param {(n: number) => number} rnd @param {Table} table @param {Table} other @param {Table} lookup @returns {string}
 */
function rareQuery(rnd, table, other, lookup) {
  const some = () => column(rnd, table).name;
  const where = rnd(3) === 0 ? '' : ` WHERE ${condition(rnd, table, rnd(2))}`;
  const from = ` FROM ${table.name}${where}`;
  const order = () => `${rnd(3) > 0 ? some() : expression(rnd, table, 1).replace(/^(?=[-\d.])/, '+')}${pick(rnd, ['', ' DESC', ' COLLATE NOCASE DESC', ' COLLATE RTRIM', ' NULLS LAST', ' DESC NULLS FIRST'])}`;
  const limit = () => ` LIMIT ${pick(rnd, ['0', '1', '7', '-1', '(SELECT 3)', '1000', "'5'"])}${rnd(2) > 0 ? '' : ` OFFSET ${pick(rnd, ['0', '1', '-3', '500', '64', '(SELECT 2)'])}`}`;
  const key = pick(rnd, [some(), `${some()} COLLATE NOCASE`, `${some()} COLLATE RTRIM`, `${some()} IS NULL`, `${some()} > 3`, `length(${some()})`, `coalesce(${some()}, ${some()})`]);
  switch (rnd(16)) {
    case 0: return `SELECT ${key}, ${aggregate(rnd, table)}${from} GROUP BY ${key}, ${some()}, ${some()} HAVING ${pick(rnd, ['sum(c0) > 3', 'count(*) > 1', 'min(c1) IS NOT NULL', 'max(c2) > min(c2)'])}`;
    case 1: return `SELECT ${key} AS k, ${aggregate(rnd, table)} AS a, count(*) AS n${from} GROUP BY 1 ORDER BY ${pick(rnd, ['n DESC, k', 'a, k', 'k DESC', '2 DESC, 1', 'k COLLATE NOCASE, a'])}${limit()}`;
    case 2: return `SELECT ${some()}, ${pick(rnd, ['max', 'min'])}(${some()}), ${some()}${from} GROUP BY ${some()}`;
    case 3: return `SELECT ${some()}, ${aggregate(rnd, table)}${from}`;
    case 4: return `SELECT ${aggregate(rnd, table)}${from} HAVING ${aggregate(rnd, table)} IS NOT NULL`;
    case 5: return `SELECT DISTINCT ${some()}, ${rnd(2) > 0 ? some() : expression(rnd, table, 1)}${from}${rnd(2) > 0 ? ` ORDER BY 1, 2${limit()}` : limit()}`;
    case 6: return `SELECT ${some()}, ${expression(rnd, table, 1)}${from} ORDER BY ${order()}, ${order()}, ${table.rowid ?? 'id'}${limit()}`;
    case 7: return `SELECT ${some()}${from}${limit()}`;
    case 8: {
      // The tables are small: a FULL JOIN may be a product.
      const both = { name: '', columns: [...other.columns.slice(0, 4).map((one) => ({ ...one, name: `${other.name}.${one.name}` })), ...lookup.columns], rowid: null };
      const kind = pick(rnd, ['RIGHT JOIN', 'FULL JOIN', 'RIGHT JOIN', 'LEFT JOIN', 'JOIN']);
      const on = pick(rnd, [`v.n = ${other.name}.c0`, `v.k = ${other.name}.c1`, `v.w = ${other.name}.c0 AND v.x > 'a'`]);
      const rest = rnd(2) > 0 ? '' : ` WHERE ${condition(rnd, both, 0)}`;
      return `SELECT ${pick(rnd, [`count(*), sum(${column(rnd, both).name})`, `${column(rnd, both).name}, ${column(rnd, both).name}`])} FROM ${other.name} ${kind} v ON ${on}${rest}`;
    }
    case 9: return `SELECT ${pick(rnd, ['count(*)', 'sum(c0), c1', 'j.key, j.value'])} FROM ${table.name}, json_each(${column(rnd, table, 'json').name}, '$.y') AS j WHERE ${condition(rnd, { ...table, rowid: null }, 0)}`;
    case 10: return `SELECT ${some()}${from} ${pick(rnd, ['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'])} SELECT ${pick(rnd, ['c0', 'c1', 'c2'])} FROM ${other.name}${rnd(2) > 0 ? '' : ` ORDER BY 1${limit()}`}`;
    case 11: return `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${1 + rnd(5)}) SELECT n, (SELECT ${aggregate(rnd, table)} FROM ${table.name} WHERE c0 ${pick(rnd, ['=', '>', '<='])} n) FROM r`;
    case 12: return `SELECT * FROM (SELECT ${some()} AS p, ${some()} AS q${from}) WHERE ${pick(rnd, ['p > 3', 'q IS NOT NULL', "p LIKE '%e%'", 'p = q'])} ${pick(rnd, ['', 'ORDER BY p, q LIMIT 9', 'GROUP BY p'])}`;
    case 13: return `SELECT (SELECT ${pick(rnd, ['count(*)', 'max(x.c0)', 'x.c1', 'sum(x.c0 + y.c0)'])} FROM ${other.name} x WHERE x.c0 ${pick(rnd, ['=', '<', '>='])} y.${pick(rnd, ['c0', 'c2'])}${rnd(2) > 0 ? '' : ' ORDER BY x.c1 LIMIT 1'}), ${pick(rnd, ['y.c0', 'y.c1'])} FROM ${table.name} y LIMIT 40`;
    case 14: return `SELECT ${some()}, ${pick(rnd, ['row_number()', 'sum(c0)', 'max(c1)', 'lag(c0)'])} OVER (${pick(rnd, ['ORDER BY c0, id', 'PARTITION BY c1 ORDER BY id', 'PARTITION BY c0'])}) AS n${from} ORDER BY 1, 2 LIMIT 30`;
    default: return `SELECT ${times(1 + rnd(3), () => builtIn(rnd, table, some(), some)).join(', ')}${from}`;
  }
}

/** @param {(n: number) => number} rnd @param {Table} table @param {Table} other @returns {string} a statement that reads `table` by a scan, and writes */
function write(rnd, table, other) {
  const where = ` WHERE ${condition(rnd, table, rnd(2))}`;
  const returning = rnd(3) === 0 ? ` RETURNING ${column(rnd, table).name}, id` : '';
  switch (rnd(7)) {
    case 0: return `DELETE FROM ${table.name}${where}${returning}`;
    case 1: return `INSERT INTO ${other.name}(c0, c1, c2, id) SELECT c0, c1, c2, ${pick(rnd, ['id + 7000000', "'w' || id", 'id'])} FROM ${table.name}${where}`;
    case 2: return `INSERT OR REPLACE INTO v(k, n, x) SELECT c1, count(*), max(c2) FROM ${table.name}${where} GROUP BY c1`;
    case 3: return `UPDATE ${table.name} SET c0 = (SELECT count(*) FROM ${other.name} WHERE c2 > ${table.name}.c2)${where}`;
    case 4: return `UPDATE ${table.name} SET c1 = x.c1 FROM ${other.name} x WHERE x.c0 = ${table.name}.c0 AND ${table.name}.id > ${rnd(60)}`;
    default: return `UPDATE ${table.name} SET ${pick(rnd, ['c0 = c0 + 1', "c1 = c1 || 'x'", 'c2 = c0', 'c0 = NULL, c1 = c2', 'id = id'])}${where}${returning}`;
  }
}

/** @param {(n: number) => number} rnd @param {Table} table @param {Table} lookup @returns {string} the parts of a line of kind `runs` */
function runs(rnd, table, lookup) {
  const { name, type } = column(rnd, table);
  const text = column(rnd, table, 'text').name;
  const of = column(rnd, table).name;
  const select = pick(rnd, [`SELECT count(*), sum(${of}), min(${of})`, `SELECT ${of}, ${name}`, `SELECT ${name}, count(*), max(${of})`, `SELECT count(*), sum(c0)`]);
  const group = select.startsWith(`SELECT ${name}, count`) ? ` GROUP BY ${name}` : '';
  const where = pick(rnd, [
    `${name} ${pick(rnd, ['=', '<', '>', '<=', '>=', '<>', 'IS', 'IS NOT'])} ?1 OR ?2 IS 7`, `${name} ${pick(rnd, ['=', '<', '>', '<=', '>=', '<>', 'IS'])} ?1 AND ?2 IS NOT 'none'`, `${name} BETWEEN ?1 AND ?2`, `${text} LIKE ?1 AND ?2 IS NOT 'none'`, `${text} GLOB ?1 OR ${name} = ?2`, `${name} IN (?1, ?2)`, `${name} + ?1 > ?2`, `substr(${text}, ?1, ?2) = 'a'`,
    `${column(rnd, table, 'json').name} ->> ?1 = ?2`, `${table.rowid ?? 'id'} BETWEEN ?1 AND ?2`, `${table.rowid ?? 'id'} > ?1 AND ${name} <> ?2`, `${name} COLLATE NOCASE = ?1 OR ${of} < ?2`, `coalesce(${name}, ?1) = ?2`,
  ]);
  const sql = pick(rnd, [
    `${select} FROM ${table.name} WHERE ${where}${group}`,
    `${select} FROM ${table.name} WHERE ${where}${group}`,
    `SELECT ${of}, ${name} FROM ${table.name} WHERE ${where} ORDER BY ${of}, ${table.rowid ?? 'id'} LIMIT 5`,
    `SELECT substr(${text}, ?1, ?2), count(*) FROM ${table.name} GROUP BY 1`,
    `SELECT ${name} * ?1 + ?2, sum(c0) FROM ${table.name} GROUP BY 1`,
    `SELECT ${of} FROM ${table.name} LIMIT ?1 OFFSET ?2`,
    `SELECT t.${of}, v.x, ?1 FROM ${table.name} AS t ${pick(rnd, ['JOIN', 'LEFT JOIN'])} v ON ${pick(rnd, ['v.k = t.c1', 'v.n = t.c0', lookup.rowid === null ? 'v.n = t.c0' : 'v.rowid = t.c0'])} WHERE ?2 IS NOT 'none'`,
    `SELECT ?1, ?2, ${of}, count(*) FROM ${table.name} GROUP BY ${of}`,
  ]);
  // Parameters are UTF-8.
  const parameter = () => pick(rnd, [value(rnd, type), value(rnd, 'int'), value(rnd, 'text'), value(rnd, 'real'), 'NULL', '1', '3', '0', "'%e%'", "'%a%'", "'$.x'", "x'41'", '-1']).replace(/^CAST\(x.*/, "'a'");
  const change = () => pick(rnd, [`UPDATE ${table.name} SET c0 = ${value(rnd, 'int')} WHERE id % 3 = ${rnd(3)}`, `DELETE FROM ${table.name} WHERE id % 5 = ${rnd(5)}`, `UPDATE v SET x = x || 'y', w = 1`, `DELETE FROM v WHERE n > 2`, `ALTER TABLE ${table.name} ADD COLUMN z${rnd(1_000_000_000)} DEFAULT 5`, `CREATE INDEX z${rnd(1_000_000_000)} ON ${table.name}(c0, c1)`, 'ANALYZE', `UPDATE ${table.name} SET c1 = replace(hex(zeroblob(${rnd(9000)})), '0', 'y') WHERE id % 7 = 1`, `UPDATE ${table.name} SET c2 = 1.5, c1 = NULL`, `DELETE FROM ${table.name} WHERE id > 30`]);
  const parts = times(2 + rnd(4), () => (rnd(6) === 0 ? `!${change()}` : `=${parameter()}, ${parameter()}`));
  return [sql, ...parts].join('\t');
}

/** @param {(n: number) => number} rnd @param {Table} table @param {Table} other @param {Table} lookup @returns {string} */
function query(rnd, table, other, lookup) {
  if (rnd(6) === 0) return join(rnd, table, lookup);
  if (rnd(6) === 0) return rangeQuery(rnd, table);
  if (rnd(12) === 0) return documentQuery(rnd, table);
  if (rnd(5) === 0) return plainQuery(rnd, table, other, lookup);
  if (rnd(8) === 0) return rareQuery(rnd, table, other, lookup);
  const where = rnd(4) === 0 ? '' : ` WHERE ${condition(rnd, table, rnd(3))}`;
  const from = ` FROM ${table.name}`;
  switch (rnd(12)) {
    case 0:
      return `SELECT ${times(1 + rnd(3), () => aggregate(rnd, table)).join(', ')}${from}${where}`;
    case 1: {
      // A filter after an effect.
      const filtered = () => `${pick(rnd, ['sum', 'count', 'max', 'min', 'avg', 'total'])}(${column(rnd, table).name}) FILTER (WHERE ${condition(rnd, table, rnd(2))})`;
      return `SELECT ${aggregate(rnd, table)}, ${times(1 + rnd(2), rnd(3) > 0 ? filtered : () => aggregate(rnd, table)).join(', ')}${from}${where}`;
    }
    case 2: case 3: case 4: {
      const keys = times(1 + rnd(2), () => (rnd(3) > 0 ? column(rnd, table).name : rnd(2) > 0 ? expression(rnd, table, 1) : substr(rnd, table)));
      // GROUP BY treats a bare number as the position of a result column.
      const grouped = keys.map((key) => (/^[-\d.]/.test(key) ? `(${key})` : key));
      const having = rnd(8) === 0 ? ' HAVING count(*) > 1' : '';
      const order = rnd(5) === 0 ? ' ORDER BY 1 DESC, 2' : '';
      const limit = rnd(8) === 0 ? ' LIMIT 3' : '';
      const bare = rnd(5) === 0 ? `, ${column(rnd, table).name}` : '';
      return `SELECT ${keys.join(', ')}, ${times(1 + rnd(3), () => aggregate(rnd, table)).join(', ')}${bare}${from}${where} GROUP BY ${grouped.join(', ')}${having}${order}${limit}`;
    }
    case 5: case 6:
      return `SELECT ${times(1 + rnd(4), () => expression(rnd, table, rnd(2))).join(', ')}${from}${where}`;
    case 7:
      return `SELECT *${from}${where}${rnd(2) > 0 ? ` LIMIT ${rnd(20)}${rnd(2) > 0 ? ` OFFSET ${rnd(20)}` : ''}` : ''}`;
    case 8: case 9:
      return `SELECT ${times(1 + rnd(3), () => column(rnd, table).name).join(', ')}${from}${where} ORDER BY ${times(1 + rnd(2), () => column(rnd, table).name + pick(rnd, ['', ' DESC', ' COLLATE NOCASE', ' NULLS LAST'])).join(', ')} LIMIT ${1 + rnd(12)}${rnd(4) === 0 ? ' OFFSET 2' : ''}`;
    case 10: {
      const joined = rnd(2) > 0 ? `${other.name}.rowid = ${table.name}.c0` : `${other.name}.c1 = ${table.name}.c1`;
      return other.rowid === null || table.name === other.name ? `SELECT count(*)${from}${where}` : `SELECT ${aggregate(rnd, { ...table, columns: table.columns.map((c) => ({ ...c, name: `${table.name}.${c.name}` })), rowid: null })}, count(*)${from} JOIN ${other.name} ON ${joined}`;
    }
    default:
      return pick(rnd, [
        `SELECT c1, (SELECT count(*) FROM ${other.name} WHERE ${other.name}.c0 = ${table.name}.c0) FROM ${table.name} LIMIT 30`,
        `SELECT DISTINCT c0, c1${from}${where}`,
        `SELECT c0, count(*) FROM (SELECT c0, c1${from}${where} LIMIT 50) GROUP BY c0`,
        `WITH x AS MATERIALIZED (SELECT c0 AS k, c1 AS v${from}${where}) SELECT k, count(v), max(v) FROM x GROUP BY k`,
        `SELECT c0${from}${where} UNION ALL SELECT c0 FROM ${other.name}`,
        `SELECT exists(SELECT 1${from}${where})`,
        `SELECT min(c0), c1${from}${where}`,
        `SELECT c1, max(c0)${from}${where}`,
        `SELECT c0, (SELECT sum(x.c0) FROM ${table.name} x WHERE x.c1 = y.c1) FROM ${table.name} y LIMIT 5`,
        `SELECT c1, sum(c0) OVER (ORDER BY c2)${from} LIMIT 20`,
        `SELECT (SELECT group_concat(n) FROM (SELECT c2 AS n, count(*) FROM ${table.name} x WHERE x.c0 >= y.c0 GROUP BY c2)) FROM ${table.name} y LIMIT 4`,
      ]);
  }
}

// A trigger has a program of its own, and may change the table that the statement scans.
const TRIGGERS = [
  'AFTER UPDATE ON t BEGIN UPDATE v SET w = coalesce(w, 0) + 1 WHERE n = new.c0; END',
  'AFTER DELETE ON t BEGIN INSERT OR IGNORE INTO v(k, x) SELECT c1, count(*) FROM u WHERE c0 >= old.c0 GROUP BY c1; END',
  'BEFORE UPDATE ON t BEGIN SELECT RAISE(IGNORE) WHERE new.c0 = 3; END',
  'AFTER INSERT ON u BEGIN DELETE FROM t WHERE c0 = new.c0 AND id < 9; END',
  'AFTER UPDATE OF c0 ON t BEGIN UPDATE t SET c2 = (SELECT max(c0) FROM u) WHERE c1 = new.c1 AND id <> new.id; END',
];

/** Queries of scan.property.test.ts: `npm test` runs the first half, `npm run verify` all and as many again. */
export const TESTED = { count: 5000, seed: 20_261_123, mostRows: 120 };

/**
 * @param {number} count of queries @param {number} seed @param {number} [mostRows]
 * @returns {Generator<Line>}
 */
export function* scanQueries(count, seed, mostRows = 400) {
  let queries = 0;
  for (let d = 0; queries < count; d++) {
    const rnd = random(seed * 7919 + d);
    yield { kind: 'database', sql: '' };
    yield { kind: 'setup', sql: `PRAGMA page_size = ${512 << (rnd(3) === 0 ? rnd(8) : 3)}` };
    yield { kind: 'setup', sql: 'BEGIN' };
    const small = makeTable(rnd, 'u', 1 + rnd(30));
    const large = makeTable(rnd, 't', rnd(6) === 0 ? rnd(5) : 20 + rnd(mostRows - 20));
    const lookup = makeLookupTable(rnd);
    for (const sql of [...small.lines, ...large.lines, ...lookup.lines]) yield { kind: 'setup', sql };
    yield { kind: 'setup', sql: 'COMMIT' };
    if (rnd(5) === 0) yield { kind: 'setup', sql: 'ANALYZE' };
    if (rnd(6) === 0) yield { kind: 'setup', sql: `CREATE TRIGGER r ${pick(rnd, TRIGGERS)}` };
    for (let q = 0; q < 60 && queries < count; q++, queries++) {
      const [table, other] = rnd(6) === 0 ? [small.table, large.table] : [large.table, small.table];
      if (rnd(16) === 0) yield { kind: 'runs', sql: runs(rnd, table, lookup.table) };
      else if (rnd(24) === 0) yield { kind: 'write', sql: write(rnd, table, other) };
      else yield { kind: 'query', sql: query(rnd, table, other, lookup.table) };
    }
  }
}
