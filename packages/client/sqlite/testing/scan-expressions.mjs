// Expressions, conditions and aggregates over a table, for scan-queries.mjs.

import { pick, quote, value } from './scan-values.mjs';

/** @typedef {import('./scan-tables.mjs').Column} Column @typedef {import('./scan-tables.mjs').Table} Table */

// Operands for which arithmetic has special rules.
export const EDGES = ['-1', '-1', '0', '1', '2', '-2', "'-1'", '-1.0', '0.0', '1.5', '-1.5', '9223372036854775807', '(-9223372036854775807 - 1)', '1e300', "'x'", 'NULL'];
const PATHS = ["'$.xy'", "'xy'", "'$.x'", "'$.x'", "'x'", "'$.y.z'", "'$.y[1]'", "'$.y[1].x'", "'$.y'", "'$.y.w[1].x'", "'$[0]'", "'$.\"x\"'", '1', "'$'"];

/** @param {(n: number) => number} rnd @param {Table} table @param {string} [type] @returns {Column} */
export function column(rnd, table, type) {
  const some = table.columns.filter((one) => type === undefined || one.type === type);
  const from = some.length === 0 ? table.columns : some;
  return from[rnd(Math.min(from.length, 12))] ?? { name: 'id', type: 'int' };
}

/** @param {(n: number) => number} rnd @param {Table} table @returns {string} */
export function json(rnd, table) {
  const { name } = column(rnd, table, 'json');
  return rnd(3) === 0 ? `json_extract(${name}, ${pick(rnd, ["'$.x'", "'$.y.z'", "'$.y[0]'"])})` : `(${name} ${pick(rnd, ['->>', '->>', '->>', '->'])} ${pick(rnd, PATHS)})`;
}

/** @param {(n: number) => number} rnd @param {Table} table @returns {string} */
export const substr = (rnd, table) => `substr(${column(rnd, table, 'text').name}, 1, ${1 + rnd(7)})`;

/** @param {(n: number) => number} rnd @param {Table} table @param {number} depth @returns {string} */
export function expression(rnd, table, depth) {
  const c = column(rnd, table).name;
  if (depth <= 0) return rnd(4) === 0 ? value(rnd, pick(rnd, ['int', 'real', 'text'])) : c;
  const inner = () => expression(rnd, table, depth - 1);
  switch (rnd(21)) {
    case 19: case 20: return builtIn(rnd, table, c, inner);
    case 17: case 18: return `(${inner()} ${pick(rnd, ['%', '%', '/', '*', '+', '-'])} ${pick(rnd, EDGES)})`;
    case 0: return `(${inner()} + ${inner()})`;
    case 1: return `(${inner()} - ${inner()})`;
    case 2: return `(${inner()} * ${inner()})`;
    case 3: return `(${inner()} / ${inner()})`;
    case 4: return `(${inner()} % ${inner()})`;
    case 5: return substr(rnd, table);
    case 6: return `length(${c})`;
    case 7: return `CASE WHEN ${condition(rnd, table, 0)} THEN ${inner()} ELSE ${inner()} END`;
    case 8: return `coalesce(${c}, ${inner()})`;
    case 9: return `CAST(${c} AS ${pick(rnd, ['INTEGER', 'TEXT', 'REAL', 'BLOB', 'NUMERIC'])})`;
    case 10: return `typeof(${c})`;
    case 11: return `abs(CAST(${c} AS REAL))`;
    case 12: return json(rnd, table);
    case 13: return `(NOT ${inner()})`;
    case 14: return `lower(${c})`;
    case 15: return table.rowid ?? c;
    default: return c;
  }
}

/** Operators and functions that scan.c calls or leaves to SQLite. @param {(n: number) => number} rnd @param {Table} table @param {string} c @param {() => string} inner @returns {string} */
export function builtIn(rnd, table, c, inner) {
  const text = column(rnd, table, 'text').name;
  const document = column(rnd, table, 'json').name;
  return pick(rnd, [
    `(${c} || ${inner()})`, `(${c} & 7)`, `(${inner()} | ${c})`, `(${c} << 2)`, `(${c} >> ${inner()})`, `(- ${c})`, `(~ ${c})`, `(+ ${c})`,
    `iif(${condition(rnd, table, 0)}, ${c}, ${inner()})`, `nullif(${c}, ${inner()})`, `ifnull(${c}, ${inner()})`, `min(${c}, ${inner()})`, `max(${c}, ${inner()}, 3)`, `min(${text} COLLATE NOCASE, ${inner()})`,
    `CASE ${c} WHEN ${inner()} THEN 1 WHEN ${value(rnd, 'int')} THEN 'two' END`, `round(${c}, 1)`, `sign(${c})`, `abs(${column(rnd, table, 'int').name})`, `hex(substr(${c}, 1, 3))`, `quote(substr(${c}, 1, 9))`, `upper(${text})`, `trim(${text})`, `rtrim(${c}, 'a')`,
    `replace(${text}, 'needle', ${c})`, `instr(${text}, 'e')`, `unicode(${text})`, `char(65 + length(${text}))`, `printf('%s/%d/%g', ${c}, ${c}, ${c})`, `octet_length(${c})`, `concat(${c}, ${text})`, `likely(${c})`, `date(${c})`, `like('%a%', ${c})`, `glob('*a*', ${c})`,
    `substr(${c}, -2)`, `substr(${text}, 2, 3)`, `substr(${text}, -3, 2)`, `substr(${text}, 2, -1)`, `substr(${c}, 0, 3)`, `substr(${text}, ${column(rnd, table, 'int').name}, 2)`, `substr(${text}, 1000, 4)`, `substr(${c}, 2)`,
    `json_type(${document})`, `json_type(${document}, '$.x')`, `json_array_length(${document}, '$.y')`, `json_valid(${document})`, `json_extract(${document}, '$.x', '$.y')`, `json_array(${c}, ${text})`, `json_quote(${text})`, `json_extract(json_object('x', ${text}), '$.x')`, `(${document} -> '$.y' ->> 'z')`, `(${document} ->> '$.y[#-1]')`, `json_set(${document}, '$.x', 7)`, `length(${document})`,
    `(${c} IS DISTINCT FROM ${inner()})`, `(${c} IS TRUE)`, `(${c} IS NOT FALSE)`, `(${c} IN (1, 'a', NULL))`, `(${c} BETWEEN ${inner()} AND ${inner()})`, `(${text} = ${c})`, `(${text} LIKE ${inner()})`, `EXISTS (SELECT 1 WHERE ${c} = 3)`, `(SELECT ${c})`,
  ]);
}

/** @param {(n: number) => number} rnd @param {Table} table @param {number} depth @returns {string} */
export function condition(rnd, table, depth) {
  if (depth > 0 && rnd(2) === 0) return `(${condition(rnd, table, depth - 1)} ${pick(rnd, ['AND', 'AND', 'OR'])} ${condition(rnd, table, depth - 1)})`;
  const { name, type } = column(rnd, table);
  const constant = value(rnd, type);
  switch (rnd(18)) {
    case 16: case 17: return rareCondition(rnd, table, name, constant);
    case 15: return `+${name} ${pick(rnd, ['=', '<', '>='])} ${value(rnd, pick(rnd, ['int', 'real', 'text']))}`;
    case 14: return `${json(rnd, table)} ${pick(rnd, ['=', '<', '>=', '<>', 'IS', 'LIKE'])} ${pick(rnd, ['1', '2', '2.5', "'1'", "'needle'", 'NULL', '-12', "'%e%'"])}`;
    case 0: return `${name} IS NULL`;
    case 1: return `${name} IS NOT NULL`;
    case 2: return `${name} BETWEEN ${constant} AND ${value(rnd, type)}`;
    case 3: return `${name} LIKE ${quote(pick(rnd, ['%needle%', '%a%', 'a%', '%', '%B', '%é%', '_a%', '%12%', '%Ab%', '%%', '%n_e%', '%k%', '%s%', 'needle', '']))}`;
    case 4: return `${name} GLOB ${quote(pick(rnd, ['*needle*', '[ab]*', 'a?', '*']))}`;
    case 5: return `${name} IN (${constant}, ${value(rnd, type)}, ${value(rnd, 'int')})`;
    case 6: return `${name} IS ${constant}`;
    case 7: return `${name} IS NOT ${constant}`;
    case 8: return `NOT (${name} ${pick(rnd, ['<', '=', '>='])} ${constant})`;
    case 9: return `${name} ${pick(rnd, ['=', '<', '>', '<=', '>=', '<>'])} ${column(rnd, table).name}`;
    case 10: return table.rowid === null ? `${name} > ${constant}` : `rowid ${pick(rnd, ['>', '>=', '<', '<=', 'BETWEEN 3 AND'])} ${rnd(300)}`;
    case 11: return `${expression(rnd, table, 1)} ${pick(rnd, ['=', '<', '>'])} ${constant}`;
    case 12: return `${name} COLLATE NOCASE = ${constant}`;
    default: return `${name} ${pick(rnd, ['=', '<', '>', '<=', '>=', '<>'])} ${constant}`;
  }
}

/** @param {(n: number) => number} rnd @param {Table} table @param {string} name @param {string} constant @returns {string} */
function rareCondition(rnd, table, name, constant) {
  const second = column(rnd, table).name;
  return pick(rnd, [
    `${name} NOT LIKE '%e%'`, `${name} LIKE '%10!%%' ESCAPE '!'`, `${name} LIKE ${second}`, `'needle' LIKE ${name}`, `${name} NOT GLOB '*a*'`, `${name} GLOB ${second}`,
    `${name} IS DISTINCT FROM ${constant}`, `${name} IS NOT DISTINCT FROM ${second}`, `${name} IS TRUE`, `${name} IS NOT TRUE`, `${name}`, `NOT ${name}`, `(${name} & 1) = 1`,
    `${name} NOT BETWEEN ${constant} AND ${second}`, `${constant} BETWEEN ${name} AND ${second}`, `${name} NOT IN (${constant}, 3)`, `${name} IN (SELECT k FROM v)`, `${name} NOT IN (SELECT n FROM v WHERE n IS NOT NULL)`, `${name} IN (${second}, 1, ${constant})`,
    `EXISTS (SELECT 1 FROM v WHERE v.n = ${name})`, `(${name}, ${second}) > (${constant}, 2)`, `(${name}, ${second}) = (${second}, ${name})`, `(${name}, ${second}) IN (SELECT n, k FROM v)`,
    `${name} COLLATE RTRIM = ${constant}`, `${name} COLLATE BINARY < ${constant}`, `${constant} = ${name}`, `${constant} > ${name} COLLATE NOCASE`, `CASE WHEN ${name} > ${constant} THEN ${second} END`, `coalesce(${name}, ${second}) = ${constant}`,
    `json_valid(${name})`, `${name} + 0 > ${constant}`, `${name} * 2 = ${second}`, `${table.rowid ?? name} IN (1, 3, '5', 7.0, NULL)`, `${table.rowid ?? name} = ${pick(rnd, ['5', '5.0', "'5'", '5.5', 'NULL', "'x'"])}`, `${table.rowid ?? name} > ${pick(rnd, ['2.5', "'7'", '-9e99', '9e99', "x''"])}`, `(${name} IS NULL) = (${second} IS NULL)`, `unlikely(${name} > ${constant})`,
  ]);
}

/** @param {(n: number) => number} rnd @param {Table} table @returns {string} */
export function aggregate(rnd, table) {
  const filter = rnd(10) === 0 ? ` FILTER (WHERE ${condition(rnd, table, 0)})` : '';
  const of = rnd(3) > 0 ? column(rnd, table).name : expression(rnd, table, 1);
  const name = pick(rnd, ['sum', 'total', 'avg', 'count', 'min', 'max', 'count(*)', 'sum', 'group_concat', 'count(DISTINCT', 'rare']);
  if (name === 'count(*)') return name + filter;
  if (name === 'count(DISTINCT') return `count(DISTINCT ${of})`;
  if (name === 'rare') {
    const second = column(rnd, table).name;
    return pick(rnd, [`sum(DISTINCT ${of})`, `max(DISTINCT ${of})`, `group_concat(${of}, ${second})`, `group_concat(${of} ORDER BY ${second} DESC, ${of})`, `json_group_array(${of})`, `json_group_object(${second}, ${of})`, `max(${of} COLLATE NOCASE)`, `min(${of} COLLATE RTRIM)`, `sum(${of}) + count(${second}) * 2`, `max(${of}) || min(${second})`, `sum(${of} > 3)`, `count(${of} IS NULL)`, `avg(${of}) - total(${second})`]);
  }
  return `${name}(${of})${filter}`;
}
