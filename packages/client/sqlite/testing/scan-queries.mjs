// Generates databases and queries that compare scan.c with SQLite: tables of all types, layouts and page sizes, and queries of all shapes that scan.c translates, and of some that it does not.

/** @typedef {{ kind: 'database' | 'setup' | 'query', sql: string }} Line */

/** @param {number} seed @returns {(n: number) => number} integers in [0, n) */
function random(seed) {
  let state = (seed * 2654435761 + 97) >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % n;
  };
}

const WORDS = ['', 'a', 'b', 'Ab', 'aB', 'abc', 'ABC', 'needle', 'NEEDLE in hay', 'x needle', 'é', 'É', '日本', '🙂', 'zz', 'nan', 'inf', '-inf', '1e400', '0x10', ' 12 ', '12abc', '12', '12.0', '1.5', '-3', '9223372036854775807', '9223372036854775808', '%', '_', 'a%b'];
const NUMBERS = ['0', '1', '-1', '2', '3', '5', '12', '100', '127', '128', '-128', '32767', '32768', '-32769', '-70000', '-8388608', '-8388609', '-2147483649', '8388607', '8388608', '2147483647', '2147483648', '140737488355327', '140737488355328', '4503599627370496', '9007199254740992', '9007199254740993', '9223372036854775807', '-9223372036854775808', '9223372036854775806'];
const REALS = ['0.0', '-0.0', '1.0', '1.5', '-1.5', '2.0', '3.0', '12.0', '0.1', '0.2', '0.3', '1e300', '-1e300', '9e999', '-9e999', '9007199254740992.0', '9223372036854775807.0', '1e18', '4.5e15'];
const DOCUMENTS = [`'{"x":1,"y":{"z":"needle"}}'`, `'{"x":2.5,"y":null}'`, `'{"y":[1,2,3],"x":"1"}'`, `'[1,2]'`, `'{"x":true}'`, `'{}'`, 'NULL', `'{"x":9223372036854775807}'`];

/** @param {(n: number) => number} rnd @param {readonly string[]} list @returns {string} */
const pick = (rnd, list) => list[rnd(list.length)] ?? '';
/** @param {string} text @returns {string} */
const quote = (text) => `'${text.replaceAll("'", "''")}'`;

/** @param {(n: number) => number} rnd @param {string} type @returns {string} a literal, mostly of the column's type */
function value(rnd, type) {
  const kind = rnd(12) === 0 ? pick(rnd, ['int', 'real', 'text', 'blob', 'null']) : rnd(9) === 0 ? 'null' : type;
  switch (kind) {
    case 'int':
      return rnd(3) > 0 ? String(rnd(12)) : pick(rnd, NUMBERS);
    case 'real':
      return rnd(2) > 0 ? `${rnd(40) - 20}.${rnd(8) * 125}` : pick(rnd, REALS);
    case 'text': {
      const r = rnd(40);
      if (r === 0) return `replace(hex(zeroblob(${1 + rnd(3000)})),'0','${pick(rnd, ['k', 'é', 'x'])}')||'needle'`;
      if (r === 1) return `'a'||char(0)||'${pick(rnd, ['b', 'c', 'B', 'needle'])}'`;
      if (r === 2) return `CAST(x'${pick(rnd, ['ff41', 'c3', '41ed', 'e2826e6565646c65', 'f09f99'])}' AS TEXT)`;
      if (r === 3) return `replace(hex(zeroblob(${20000 + rnd(30000)})),'0','y')`;
      return quote(pick(rnd, WORDS));
    }
    case 'blob':
      return pick(rnd, ["x''", "x'00'", "x'41'", "x'6e6565646c65'", 'zeroblob(9)', 'zeroblob(5000)']);
    case 'json':
      return pick(rnd, DOCUMENTS);
    default:
      return 'NULL';
  }
}

/** @typedef {{ name: string, type: string }} Column */
/** @typedef {{ name: string, columns: Column[], rowid: string | null }} Table */

/** @param {(n: number) => number} rnd @param {string} name @param {number} rows @returns {{ table: Table, lines: string[] }} */
function makeTable(rnd, name, rows) {
  const kinds = [['int', 'INTEGER'], ['text', 'TEXT'], ['real', 'REAL'], ['text', 'TEXT COLLATE NOCASE'], ['int', ''], ['blob', 'BLOB'], ['json', 'TEXT'], ['int', 'NUMERIC'], ['real', 'INT'], ['int', 'REAL'], ['int', 'TEXT'], ['text', 'TEXT COLLATE RTRIM']];
  const columns = /** @type {Column[]} */ ([]);
  const declared = [];
  const layout = rnd(8);
  const without = layout === 0;
  declared.push(without ? 'id INTEGER NOT NULL' : layout === 1 ? 'id TEXT' : 'id INTEGER PRIMARY KEY');
  const count = rnd(15) === 0 ? 140 : 3 + rnd(6);
  for (let c = 0; c < count; c++) {
    const [type = '', declaration = ''] = c < 4 ? (kinds[c] ?? []) : (kinds[rnd(kinds.length)] ?? []);
    columns.push({ name: `c${c}`, type });
    declared.push(`c${c} ${declaration}`);
  }
  const lines = [`CREATE TABLE ${name}(${declared.join(', ')}${without ? ', PRIMARY KEY(id)) WITHOUT ROWID' : ')'}`];
  const added = rnd(3) === 0 ? 1 + rnd(2) : 0;
  const insert = (/** @type {number} */ id) => `INSERT INTO ${name} VALUES(${[layout === 1 ? quote(`k${id}`) : String(id), ...columns.map((column) => value(rnd, column.type))].join(', ')})`;
  const before = added > 0 ? rnd(rows + 1) : rows;
  for (let id = 1; id <= before; id++) lines.push(insert(id * (1 + rnd(2) * 1000)).replace('INSERT', 'INSERT OR REPLACE'));
  for (let a = 0; a < added; a++) {
    const type = pick(rnd, ['int', 'real', 'text']);
    const defaults = { int: '7', real: '2.5', text: "'needle'" }[type];
    lines.push(`ALTER TABLE ${name} ADD COLUMN a${a} ${{ int: 'INTEGER', real: 'REAL', text: 'TEXT COLLATE NOCASE' }[type]}${rnd(3) > 0 ? ` DEFAULT ${defaults}` : ''}`);
    columns.push({ name: `a${a}`, type });
  }
  for (let id = before + 1; id <= rows; id++) lines.push(insert(id + 500_000));
  if (rnd(3) === 0) lines.push(`DELETE FROM ${name} WHERE id % ${2 + rnd(5)} = 0`);
  if (rnd(6) === 0) lines.push(`CREATE INDEX ${name}_i ON ${name}(c${rnd(3)})`);
  return { table: { name, columns, rowid: without ? null : 'rowid' }, lines };
}

/** @param {(n: number) => number} rnd @param {Table} table @param {string} [type] @returns {Column} */
function column(rnd, table, type) {
  const some = table.columns.filter((one) => type === undefined || one.type === type);
  const from = some.length === 0 ? table.columns : some;
  return from[rnd(Math.min(from.length, 12))] ?? { name: 'id', type: 'int' };
}

/** @param {(n: number) => number} rnd @param {Table} table @param {number} depth @returns {string} */
function expression(rnd, table, depth) {
  const c = column(rnd, table).name;
  if (depth <= 0) return rnd(4) === 0 ? value(rnd, pick(rnd, ['int', 'real', 'text'])) : c;
  const inner = () => expression(rnd, table, depth - 1);
  switch (rnd(17)) {
    case 0: return `(${inner()} + ${inner()})`;
    case 1: return `(${inner()} - ${inner()})`;
    case 2: return `(${inner()} * ${inner()})`;
    case 3: return `(${inner()} / ${inner()})`;
    case 4: return `(${inner()} % ${inner()})`;
    case 5: return `substr(${column(rnd, table, 'text').name}, 1, ${1 + rnd(7)})`;
    case 6: return `length(${c})`;
    case 7: return `CASE WHEN ${condition(rnd, table, 0)} THEN ${inner()} ELSE ${inner()} END`;
    case 8: return `coalesce(${c}, ${inner()})`;
    case 9: return `CAST(${c} AS ${pick(rnd, ['INTEGER', 'TEXT', 'REAL', 'BLOB', 'NUMERIC'])})`;
    case 10: return `typeof(${c})`;
    case 11: return `abs(CAST(${c} AS REAL))`;
    case 12: return `${column(rnd, table, 'json').name} ->> '$.x'`;
    case 13: return `(NOT ${inner()})`;
    case 14: return `lower(${c})`;
    case 15: return table.rowid ?? c;
    default: return c;
  }
}

/** @param {(n: number) => number} rnd @param {Table} table @param {number} depth @returns {string} */
function condition(rnd, table, depth) {
  if (depth > 0 && rnd(2) === 0) return `(${condition(rnd, table, depth - 1)} ${pick(rnd, ['AND', 'AND', 'OR'])} ${condition(rnd, table, depth - 1)})`;
  const { name, type } = column(rnd, table);
  const constant = value(rnd, type);
  switch (rnd(14)) {
    case 0: return `${name} IS NULL`;
    case 1: return `${name} IS NOT NULL`;
    case 2: return `${name} BETWEEN ${constant} AND ${value(rnd, type)}`;
    case 3: return `${name} LIKE ${quote(pick(rnd, ['%needle%', '%a%', 'a%', '%', '%B', '%é%', '_a%', '%12%', '%Ab%', '%%', '%n_e%']))}`;
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

/** @param {(n: number) => number} rnd @param {Table} table @returns {string} */
function aggregate(rnd, table) {
  const filter = rnd(10) === 0 ? ` FILTER (WHERE ${condition(rnd, table, 0)})` : '';
  const of = rnd(3) > 0 ? column(rnd, table).name : expression(rnd, table, 1);
  const name = pick(rnd, ['sum', 'total', 'avg', 'count', 'min', 'max', 'count(*)', 'sum', 'group_concat', 'count(DISTINCT']);
  if (name === 'count(*)') return name + filter;
  if (name === 'count(DISTINCT') return `count(DISTINCT ${of})`;
  return `${name}(${of})${filter}`;
}

/** @template T @param {number} n @param {() => T} make @returns {T[]} */
const times = (n, make) => Array.from({ length: n }, make);

/** @param {(n: number) => number} rnd @param {Table} table @param {Table} other @returns {string} */
function query(rnd, table, other) {
  const where = rnd(4) === 0 ? '' : ` WHERE ${condition(rnd, table, rnd(3))}`;
  const from = ` FROM ${table.name}`;
  switch (rnd(12)) {
    case 0: case 1:
      return `SELECT ${times(1 + rnd(3), () => aggregate(rnd, table)).join(', ')}${from}${where}`;
    case 2: case 3: case 4: {
      const keys = times(1 + rnd(2), () => (rnd(3) > 0 ? column(rnd, table).name : expression(rnd, table, 1)));
      // Numbers would be positions of result columns.
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
    for (const sql of [...small.lines, ...large.lines]) yield { kind: 'setup', sql };
    yield { kind: 'setup', sql: 'COMMIT' };
    if (rnd(5) === 0) yield { kind: 'setup', sql: 'ANALYZE' };
    for (let q = 0; q < 60 && queries < count; q++, queries++) {
      const [table, other] = rnd(6) === 0 ? [small.table, large.table] : [large.table, small.table];
      yield { kind: 'query', sql: query(rnd, table, other) };
    }
  }
}
