// Tables of all layouts, for scan-queries.mjs.

import { column } from './scan-expressions.mjs';
import { OPEN_DOCUMENTS, pick, quote, SHORT_DOCUMENTS, value } from './scan-values.mjs';

/** `kind`: the kind of its values if not `type`. @typedef {{ name: string, type: string, kind?: string }} Column */
/** `indexed`: the columns of an index, in its order. @typedef {{ name: string, columns: Column[], rowid: string | null, indexed?: Column[] }} Table */

/** Expressions of generated columns. No value makes them fail. */
const GENERATED = ['c0 + 1', 'c0 * 1.5', 'length(c1)', 'substr(c1, 1, 2)', 'c2', 'lower(c1)', "c0 || ' ' || c1", 'typeof(c2)', 'coalesce(c0, c2)', 'c0 = c2', 'NULL', 'c1 COLLATE NOCASE'];
/** Defaults of columns that are added, by declaration. */
const ADDED = [['int', 'INTEGER', '7'], ['real', 'REAL', '2.5'], ['text', 'TEXT COLLATE NOCASE', "'needle'"], ['int', 'INTEGER', '1.0'], ['real', 'REAL', '3'], ['int', 'INTEGER', "'12'"], ['blob', 'BLOB', "x'41'"], ['int', 'INTEGER NOT NULL', '-1'], ['real', '', '-0.0'], ['text', 'TEXT', '5'], ['int', 'NUMERIC', "'9e99'"], ['int', 'INTEGER', '9223372036854775807']];

/** @param {(n: number) => number} rnd @param {string} name @param {number} rows @returns {{ table: Table, lines: string[] }} */
export function makeTable(rnd, name, rows) {
  const isStrict = rnd(8) === 0;
  const kinds = isStrict
    ? [['int', 'INTEGER'], ['text', 'TEXT'], ['real', 'REAL'], ['text', 'TEXT COLLATE NOCASE'], ['json', 'TEXT'], ['blob', 'BLOB'], ['int', 'ANY'], ['real', 'ANY'], ['int', 'INT'], ['text', 'TEXT COLLATE RTRIM']]
    : [['int', 'INTEGER'], ['text', 'TEXT'], ['real', 'REAL'], ['text', 'TEXT COLLATE NOCASE'], ['json', 'TEXT'], ['blob', 'BLOB'], ['int', ''], ['int', 'NUMERIC'], ['real', 'INT'], ['int', 'REAL'], ['int', 'TEXT'], ['text', 'TEXT COLLATE RTRIM']];
  const columns = /** @type {Column[]} */ ([]);
  const generated = /** @type {Column[]} */ ([]);
  const declared = [];
  const layout = rnd(8);
  const without = layout === 0;
  declared.push(without ? 'id INTEGER NOT NULL' : layout === 1 ? 'id TEXT' : 'id INTEGER PRIMARY KEY');
  const count = rnd(15) === 0 ? 140 : 3 + rnd(6);
  const casts = /** @type {string[]} */ ([]);
  for (let c = 0; c < count; c++) {
    const [type = '', declaration = ''] = c < 5 ? (kinds[c] ?? []) : (kinds[rnd(kinds.length)] ?? []);
    const kind = type === 'int' && rnd(4) === 0 ? 'huge' : type === 'json' && rnd(3) === 0 ? 'escaped' : type;
    columns.push({ name: `c${c}`, type, kind });
    casts.push(isStrict && !declaration.startsWith('ANY') ? declaration.split(' ')[0] ?? '' : '');
    declared.push(`c${c} ${type === 'json' && !isStrict && rnd(2) === 0 ? 'TEXT JSONB' : declaration}`);
    // A generated column between others moves those after it in the record if it is stored, but not if it is virtual.
    if (rnd(30) === 0 && c > 1) {
      const g = generated.length;
      generated.push({ name: `g${g}`, type: pick(rnd, ['int', 'text', 'real']) });
      declared.push(`g${g} ${isStrict ? 'ANY' : pick(rnd, ['', 'INTEGER', 'TEXT', 'REAL'])} GENERATED ALWAYS AS (${pick(rnd, GENERATED)}) ${pick(rnd, ['VIRTUAL', 'STORED'])}`);
    }
  }
  // OR IGNORE skips rows with a NULL in the key.
  const key = pick(rnd, ['id', 'id', 'c1, id', 'c0 DESC, id', 'c2, c1, id', 'c1 COLLATE NOCASE, id DESC']);
  const lines = [`CREATE TABLE ${name}(${declared.join(', ')}${without ? `, PRIMARY KEY(${key})) WITHOUT ROWID` : ')'}${isStrict ? (without ? ', STRICT' : ' STRICT') : ''}`];
  const added = rnd(3) === 0 ? 1 + rnd(2) : 0;
  const valueOf = (/** @type {Column} */ one, /** @type {number} */ c) => ((casts[c] ?? '') === '' ? value(rnd, one.kind ?? one.type) : `CAST(${value(rnd, one.kind ?? one.type)} AS ${casts[c]})`);
  const insert = (/** @type {number} */ id) => `INSERT OR IGNORE INTO ${name}(${['id', ...columns.map((one) => one.name)].join(', ')}) VALUES(${[layout === 1 ? quote(`k${id}`) : String(id), ...columns.map(valueOf)].join(', ')})`;
  const before = added > 0 ? rnd(rows + 1) : rows;
  for (let id = 1; id <= before; id++) lines.push(insert(id * (1 + rnd(2) * 1000)).replace('IGNORE', layout === 0 ? 'IGNORE' : 'REPLACE'));
  for (let a = 0; a < added; a++) {
    const [type = '', declaration = '', standard = ''] = ADDED[rnd(ADDED.length)] ?? [];
    const isAny = isStrict && (declaration === '' || declaration === 'NUMERIC');
    lines.push(`ALTER TABLE ${name} ADD COLUMN a${a} ${isAny ? 'ANY' : declaration}${rnd(3) > 0 || declaration.includes('NOT NULL') ? ` DEFAULT ${isStrict && !isAny ? { int: '7', real: '2.5', text: "'needle'", blob: "x'41'" }[type] : standard}` : ''}`);
    columns.push({ name: `a${a}`, type });
    casts.push(isStrict && !isAny ? declaration.split(' ')[0] ?? '' : '');
  }
  for (let id = before + 1; id <= rows; id++) lines.push(insert(id + 500_000));
  if (rnd(3) === 0) lines.push(`DELETE FROM ${name} WHERE id % ${2 + rnd(5)} = 0`);
  // A text that is not JSON, in one row only: with more, nearly every query would fail.
  const documents = columns.filter(({ type }) => type === 'json');
  if (documents.length > 0 && rnd(5) === 0) lines.push(`UPDATE ${name} SET ${column(rnd, { name, columns: documents, rowid: null }).name} = ${rnd(2) > 0 ? pick(rnd, OPEN_DOCUMENTS) : pick(rnd, SHORT_DOCUMENTS)} WHERE id = (SELECT max(id) FROM ${name})`);
  columns.splice(Math.min(3, columns.length), 0, ...generated);
  const indexed = /** @type {Column[]} */ ([]);
  if (rnd(3) === 0) {
    const first = rnd(Math.min(count, 6));
    for (let i = 0; i <= rnd(3); i++) indexed.push(columns[(first + i) % columns.length] ?? { name: 'id', type: 'int' });
    const parts = indexed.map((one) => one.name + pick(rnd, ['', '', ' DESC', ' COLLATE NOCASE']));
    if (rnd(6) === 0) parts.push(pick(rnd, ['length(c1)', 'c0 + 1', 'lower(c1)', 'c0 = 3']));
    const partial = rnd(5) === 0 ? ` WHERE ${pick(rnd, ['c0 IS NOT NULL', 'c0 > 2', "c1 < 'n'", 'c2 IS NULL'])}` : '';
    lines.push(`CREATE INDEX ${name}_i ON ${name}(${[...new Set(parts)].join(', ')})${partial}`);
  }
  return { table: { name, columns, rowid: without ? null : 'rowid', indexed }, lines };
}

/** A table that joins look rows up in. @param {(n: number) => number} rnd @returns {{ table: Table, lines: string[] }} */
export function makeLookupTable(rnd) {
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
