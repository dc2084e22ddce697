// Generates databases and queries that compare scan.c with SQLite: tables of all types, layouts and page sizes, and
// queries of all shapes that scan.c translates, and of some that it does not.

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
// Operands for which arithmetic has special rules.
const EDGES = ['-1', '-1', '0', '1', '2', '-2', "'-1'", '-1.0', '0.0', '1.5', '-1.5', '9223372036854775807', '(-9223372036854775807 - 1)', '1e300', "'x'", 'NULL'];
// Sums of these exceed the limits of 64 bits in both directions.
const HUGE = ['9223372036854775807', '9223372036854775800', '-9223372036854775808', '-9223372036854775800', '4611686018427387904', '-4611686018427387905', '1', '-1'];
const NUMBERS = ['0', '1', '-1', '2', '3', '5', '12', '100', '127', '128', '-128', '32767', '32768', '-32769', '-70000', '-8388608', '-8388609', '-2147483649', '8388607', '8388608', '2147483647', '2147483648', '140737488355327', '140737488355328', '4503599627370496', '9007199254740992', '9007199254740993', '9223372036854775807', '-9223372036854775808', '9223372036854775806'];
const REALS = ['0.0', '-0.0', '1.0', '1.5', '-1.5', '2.0', '3.0', '12.0', '0.1', '0.2', '0.3', '1e300', '-1e300', '9e999', '-9e999', '9007199254740992.0', '9223372036854775807.0', '1e18', '4.5e15'];
// JSON that scan-batch.c mostly reads itself, and JSON that it leaves to SQLite.
const DOCUMENTS = [
  `'{"x":1,"y":{"z":"needle"}}'`, `'{"x":2.5,"y":null}'`, `'{"y":[1,2,3],"x":"1"}'`, `'[1,2]'`, `'{"x":true}'`, `'{}'`, 'NULL', `'{"x":-0,"x":2}'`, `'{"x":2,"x":"needle"}'`, `'{"x":1e3,"y":[]}'`, `'"x"'`, `'12'`, `'{"x":"é"}'`,
  `' { "y" : { "z" : "Ab" , "w" : [ 1 , { "x" : 7 } ] } , "x" : -12 } '`, `'{"x":"needle","y":{"z":5,"z":6}}'`, `'{"x":0.1,"y":{"z":null}}'`, `'{"y":[{"x":1},{"x":2}],"x":12}'`, `'{"x":1.7976931348623157e309}'`, `'{"x":"1","xy":"needle"}'`, `'{"xy":2.5,"x":1}'`, `'{"y":{"z":[7,8,"a long text of an array, to be found"]},"xy":12}'`,
];
const ESCAPED_DOCUMENTS = [`'{"x":"a\\"b","y":{"z":"needle"}}'`, `'{"x":"\\u0041b"}'`, `'{"x":"\\ud83d\\ude42"}'`, `'{"a\\"x":1,"x":2}'`, `'{"y":"\\\\","x":12}'`, `'{"x":"\\/"}'`, `'{"x":"needle\\n"}'`, `'{"\\u0078":"1","x":2}'`, `'{"x":"\\u00e9"}'`];
// Malformed JSON whose error is at its end.
const SHORT_DOCUMENTS = [`'{"x":1'`, `'{"x":'`, `'{"x"'`, `'{"x'`, `'{'`, `'[1,2'`, `'[1,'`, `'{"x":1,'`, `'{"x":1}x'`, `'{"x":1}}'`, `'{"x":"a\\'`, `'{"x":"\\u00'`, `'{"x":tru'`, `'{"x":-'`, `'{"x":1.'`, `'{"x":1e'`];
const OPEN_DOCUMENTS = [`'{"x":1'`, `'[1,2'`, `'{"y":1,"x":{"y":2}'`, `'{"xy":"needle","x":12'`];
const ODD_DOCUMENTS = [`'{"x":"a\\u0041\\n"}'`, `'{"x":123456789012345678901}'`, `'{"\\u0078":3,"y":1}'`, `'{x:4,y:{z:1},}'`, `'{"x":.5}'`, `'{"x":9223372036854775807}'`, `'{"x":-9223372036854775808}'`, `'{"x":[1]}'`, `'{"x":{"y":1}}'`];
const PATHS = ["'$.xy'", "'xy'", "'$.x'", "'$.x'", "'x'", "'$.y.z'", "'$.y[1]'", "'$.y[1].x'", "'$.y'", "'$.y.w[1].x'", "'$[0]'", "'$.\"x\"'", '1', "'$'"];

/** @param {(n: number) => number} rnd @param {readonly string[]} list @returns {string} */
const pick = (rnd, list) => list[rnd(list.length)] ?? '';
/** @param {string} text @returns {string} */
const quote = (text) => `'${text.replaceAll("'", "''")}'`;

/** @param {(n: number) => number} rnd @param {string} type @returns {string} a literal, mostly of the column's type */
function value(rnd, type) {
  // A text that is not JSON would make every query of the column fail.
  const isJson = type === 'json' || type === 'escaped';
  const kind = isJson && rnd(9) > 0 ? type : !isJson && rnd(12) === 0 ? pick(rnd, ['int', 'real', 'text', 'blob', 'null']) : rnd(9) === 0 ? 'null' : type;
  switch (kind) {
    case 'int':
      return rnd(3) > 0 ? String(rnd(12)) : pick(rnd, NUMBERS);
    case 'real':
      return rnd(2) > 0 ? `${rnd(40) - 20}.${rnd(8) * 125}` : pick(rnd, REALS);
    case 'text': {
      const r = rnd(40);
      if (r === 0) return `replace(hex(zeroblob(${1 + rnd(3000)})),'0','${pick(rnd, ['k', 'é', 'x'])}')||'needle'`;
      if (r === 1 || r === 4) return `'${pick(rnd, ['a', 'needle '])}'||char(0)||'${pick(rnd, ['b', 'B', 'needle', 'a needle'])}'`;
      if (r === 2) return `CAST(x'${pick(rnd, ['ff41', 'c3', '41ed', 'e2826e6565646c65', 'f09f99'])}' AS TEXT)`;
      if (r === 3) return `replace(hex(zeroblob(${20000 + rnd(30000)})),'0','y')`;
      return quote(pick(rnd, WORDS));
    }
    case 'huge':
      return pick(rnd, HUGE);
    case 'escaped':
      return pick(rnd, rnd(2) > 0 ? ESCAPED_DOCUMENTS : DOCUMENTS);
    case 'blob':
      return pick(rnd, ["x''", "x'00'", "x'41'", "x'6e6565646c65'", 'zeroblob(9)', 'zeroblob(5000)']);
    case 'json':
      return rnd(4000) === 0 ? pick(rnd, [...SHORT_DOCUMENTS, `'{"x":1} x'`, `'{"x":01}'`, `'{"x" 1}'`, `'{"x":tru}'`, `'[1,,2]'`, "''", `jsonb('{"x":3}')`]) : rnd(80) === 0 ? `jsonb(${pick(rnd, DOCUMENTS.slice(0, 8))})` : pick(rnd, rnd(30) === 0 ? ODD_DOCUMENTS : DOCUMENTS);
    default:
      return 'NULL';
  }
}

/** `kind`: the kind of its values if not `type`. @typedef {{ name: string, type: string, kind?: string }} Column */
/** `indexed`: the columns of an index, in its order. @typedef {{ name: string, columns: Column[], rowid: string | null, indexed?: Column[] }} Table */

/** @param {(n: number) => number} rnd @param {string} name @param {number} rows @returns {{ table: Table, lines: string[] }} */
function makeTable(rnd, name, rows) {
  const kinds = [['int', 'INTEGER'], ['text', 'TEXT'], ['real', 'REAL'], ['text', 'TEXT COLLATE NOCASE'], ['json', 'TEXT'], ['blob', 'BLOB'], ['int', ''], ['int', 'NUMERIC'], ['real', 'INT'], ['int', 'REAL'], ['int', 'TEXT'], ['text', 'TEXT COLLATE RTRIM']];
  const columns = /** @type {Column[]} */ ([]);
  const declared = [];
  const layout = rnd(8);
  const without = layout === 0;
  declared.push(without ? 'id INTEGER NOT NULL' : layout === 1 ? 'id TEXT' : 'id INTEGER PRIMARY KEY');
  const count = rnd(15) === 0 ? 140 : 3 + rnd(6);
  for (let c = 0; c < count; c++) {
    const [type = '', declaration = ''] = c < 5 ? (kinds[c] ?? []) : (kinds[rnd(kinds.length)] ?? []);
    const kind = type === 'int' && rnd(4) === 0 ? 'huge' : type === 'json' && rnd(3) === 0 ? 'escaped' : type;
    columns.push({ name: `c${c}`, type, kind });
    declared.push(`c${c} ${type === 'json' && rnd(2) === 0 ? 'TEXT JSONB' : declaration}`);
  }
  const lines = [`CREATE TABLE ${name}(${declared.join(', ')}${without ? ', PRIMARY KEY(id)) WITHOUT ROWID' : ')'}`];
  const added = rnd(3) === 0 ? 1 + rnd(2) : 0;
  const insert = (/** @type {number} */ id) => `INSERT INTO ${name} VALUES(${[layout === 1 ? quote(`k${id}`) : String(id), ...columns.map((column) => value(rnd, column.kind ?? column.type))].join(', ')})`;
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
  // A text that is not JSON, in one row only: with more, nearly every query would fail.
  const documents = columns.filter(({ type }) => type === 'json');
  if (documents.length > 0 && rnd(5) === 0) lines.push(`UPDATE ${name} SET ${column(rnd, { name, columns: documents, rowid: null }).name} = ${rnd(2) > 0 ? pick(rnd, OPEN_DOCUMENTS) : pick(rnd, SHORT_DOCUMENTS)} WHERE id = (SELECT max(id) FROM ${name})`);
  const indexed = /** @type {Column[]} */ ([]);
  if (rnd(3) === 0) {
    const first = rnd(Math.min(count, 6));
    for (let i = 0; i <= rnd(3); i++) indexed.push(columns[(first + i) % columns.length] ?? { name: 'id', type: 'int' });
    const parts = indexed.map((one) => one.name + pick(rnd, ['', '', ' DESC', ' COLLATE NOCASE']));
    lines.push(`CREATE INDEX ${name}_i ON ${name}(${[...new Set(parts)].join(', ')})`);
  }
  return { table: { name, columns, rowid: without ? null : 'rowid', indexed }, lines };
}

/** A table that joins look rows up in. @param {(n: number) => number} rnd @returns {{ table: Table, lines: string[] }} */
function makeLookupTable(rnd) {
  const key = pick(rnd, ['k TEXT PRIMARY KEY', 'k TEXT PRIMARY KEY NOT NULL', 'k TEXT NOT NULL UNIQUE', 'k TEXT UNIQUE', 'k PRIMARY KEY', 'k TEXT PRIMARY KEY COLLATE NOCASE', 'k TEXT']);
  const n = pick(rnd, ['n INTEGER', 'n INTEGER UNIQUE', 'n UNIQUE', 'n REAL UNIQUE NOT NULL']);
  const without = key.includes('PRIMARY') && rnd(4) === 0;
  const lines = [`CREATE TABLE v(${key}, ${n}, x TEXT, y REAL, z TEXT, w INTEGER)${without ? ' WITHOUT ROWID' : ''}`];
  const columns = [
    { name: 'v.k', type: 'text' },
    { name: 'v.n', type: 'int' },
    { name: 'v.x', type: 'text' },
    { name: 'v.y', type: 'real' },
    { name: 'v.z', type: 'json' },
    { name: 'v.w', type: 'int' },
  ];
  const insert = () => `INSERT OR IGNORE INTO v(k, n, x, y, z, w) VALUES(${[value(rnd, 'text'), value(rnd, 'int'), value(rnd, 'text'), value(rnd, 'real'), value(rnd, 'json'), value(rnd, 'int')].join(', ')})`;
  for (let row = rnd(40); row > 0; row--) lines.push(insert());
  if (rnd(3) === 0) {
    lines.push(`ALTER TABLE v ADD COLUMN b TEXT${rnd(2) > 0 ? " DEFAULT 'needle'" : ''}`);
    columns.push({ name: 'v.b', type: 'text' });
    for (let row = rnd(10); row > 0; row--) lines.push(insert());
  }
  return { table: { name: 'v', columns, rowid: without ? null : 'v.rowid' }, lines };
}

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

/** @param {(n: number) => number} rnd @param {Table} table @param {string} [type] @returns {Column} */
function column(rnd, table, type) {
  const some = table.columns.filter((one) => type === undefined || one.type === type);
  const from = some.length === 0 ? table.columns : some;
  return from[rnd(Math.min(from.length, 12))] ?? { name: 'id', type: 'int' };
}

/** @param {(n: number) => number} rnd @param {Table} table @returns {string} */
function json(rnd, table) {
  const { name } = column(rnd, table, 'json');
  return rnd(3) === 0 ? `json_extract(${name}, ${pick(rnd, ["'$.x'", "'$.y.z'", "'$.y[0]'"])})` : `(${name} ${pick(rnd, ['->>', '->>', '->>', '->'])} ${pick(rnd, PATHS)})`;
}

/** @param {(n: number) => number} rnd @param {Table} table @returns {string} */
const substr = (rnd, table) => `substr(${column(rnd, table, 'text').name}, 1, ${1 + rnd(7)})`;

/** @param {(n: number) => number} rnd @param {Table} table @param {number} depth @returns {string} */
function expression(rnd, table, depth) {
  const c = column(rnd, table).name;
  if (depth <= 0) return rnd(4) === 0 ? value(rnd, pick(rnd, ['int', 'real', 'text'])) : c;
  const inner = () => expression(rnd, table, depth - 1);
  switch (rnd(19)) {
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

/** @param {(n: number) => number} rnd @param {Table} table @param {number} depth @returns {string} */
function condition(rnd, table, depth) {
  if (depth > 0 && rnd(2) === 0) return `(${condition(rnd, table, depth - 1)} ${pick(rnd, ['AND', 'AND', 'OR'])} ${condition(rnd, table, depth - 1)})`;
  const { name, type } = column(rnd, table);
  const constant = value(rnd, type);
  switch (rnd(15)) {
    case 14: return `${json(rnd, table)} ${pick(rnd, ['=', '<', '>=', '<>', 'IS', 'LIKE'])} ${pick(rnd, ['1', '2', '2.5', "'1'", "'needle'", 'NULL', '-12', "'%e%'"])}`;
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

/** @template T @param {number} n @param {() => T} make @returns {T[]} */
const times = (n, make) => Array.from({ length: n }, make);

/** @param {(n: number) => number} rnd @param {Table} table @param {Table} other @param {Table} lookup @returns {string} */
function query(rnd, table, other, lookup) {
  if (rnd(6) === 0) return join(rnd, table, lookup);
  if (rnd(6) === 0) return rangeQuery(rnd, table);
  if (rnd(12) === 0) return documentQuery(rnd, table);
  if (rnd(5) === 0) return plainQuery(rnd, table, other, lookup);
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

/** What scan.property.test.ts runs in `npm test`. */
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
    for (let q = 0; q < 60 && queries < count; q++, queries++) {
      const [table, other] = rnd(6) === 0 ? [small.table, large.table] : [large.table, small.table];
      yield { kind: 'query', sql: query(rnd, table, other, lookup.table) };
    }
  }
}
