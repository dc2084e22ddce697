// Literals of SQL, and random choices, for scan-queries.mjs.

/** @param {number} seed @returns {(n: number) => number} integers in [0, n) */
export function random(seed) {
  let state = (seed * 2654435761 + 97) >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % n;
  };
}

const WORDS = ['', 'a', 'b', 'Ab', 'aB', 'abc', 'ABC', 'needle', 'NEEDLE in hay', 'x needle', 'é', 'É', '日本', '🙂', 'zz', 'nan', 'inf', '-inf', '1e400', '0x10', ' 12 ', '12abc', '12', '12.0', '1.5', '-3', '9223372036854775807', '9223372036854775808', '%', '_', 'a%b', 'a ', 'A  ', ' a', 'K', '\u212A', 'ſ', 'İ', 'ß', 'Ä', 'ä', '.5', '5.', '1e5', '-0', '+1', '1_000', '9007199254740993.0', '0.1'];
// Sums of these exceed the limits of 64 bits in both directions.
const HUGE = ['9223372036854775807', '9223372036854775800', '-9223372036854775808', '-9223372036854775800', '4611686018427387904', '-4611686018427387905', '1', '-1'];
const NUMBERS = ['0', '1', '-1', '2', '3', '5', '12', '100', '127', '128', '-128', '32767', '32768', '-32769', '-70000', '-8388608', '-8388609', '-2147483649', '8388607', '8388608', '2147483647', '2147483648', '140737488355327', '140737488355328', '4503599627370496', '9007199254740992', '9007199254740993', '9223372036854775807', '-9223372036854775808', '9223372036854775806'];
const REALS = ['0.0', '-0.0', '1.0', '1.5', '-1.5', '2.0', '3.0', '12.0', '0.1', '0.2', '0.3', '1e300', '-1e300', '9e999', '-9e999', '9007199254740992.0', '9223372036854775807.0', '1e18', '4.5e15', '-9223372036854775808.0', '9223372036854774784.0', '18446744073709551616.0', '5e-324', '2.2250738585072014e-308', '(0.1 + 0.2)'];
// JSON that scan-batch.c mostly reads itself, and JSON that it leaves to SQLite.
const DOCUMENTS = [
  `'{"x":1,"y":{"z":"needle"}}'`, `'{"x":2.5,"y":null}'`, `'{"y":[1,2,3],"x":"1"}'`, `'[1,2]'`, `'{"x":true}'`, `'{}'`, 'NULL', `'{"x":-0,"x":2}'`, `'{"x":2,"x":"needle"}'`, `'{"x":1e3,"y":[]}'`, `'"x"'`, `'12'`, `'{"x":"é"}'`,
  `' { "y" : { "z" : "Ab" , "w" : [ 1 , { "x" : 7 } ] } , "x" : -12 } '`, `'{"x":"needle","y":{"z":5,"z":6}}'`, `'{"x":0.1,"y":{"z":null}}'`, `'{"y":[{"x":1},{"x":2}],"x":12}'`, `'{"x":1.7976931348623157e309}'`, `'{"x":"1","xy":"needle"}'`, `'{"xy":2.5,"x":1}'`, `'{"y":{"z":[7,8,"a long text of an array, to be found"]},"xy":12}'`,
];
const ESCAPED_DOCUMENTS = [`'{"x":"a\\"b","y":{"z":"needle"}}'`, `'{"x":"\\u0041b"}'`, `'{"x":"\\ud83d\\ude42"}'`, `'{"a\\"x":1,"x":2}'`, `'{"y":"\\\\","x":12}'`, `'{"x":"\\/"}'`, `'{"x":"needle\\n"}'`, `'{"\\u0078":"1","x":2}'`, `'{"x":"\\u00e9"}'`];
// Malformed JSON whose error is at its end.
export const SHORT_DOCUMENTS = [`'{"x":1'`, `'{"x":'`, `'{"x"'`, `'{"x'`, `'{'`, `'[1,2'`, `'[1,'`, `'{"x":1,'`, `'{"x":1}x'`, `'{"x":1}}'`, `'{"x":"a\\'`, `'{"x":"\\u00'`, `'{"x":tru'`, `'{"x":-'`, `'{"x":1.'`, `'{"x":1e'`];
export const OPEN_DOCUMENTS = [`'{"x":1'`, `'[1,2'`, `'{"y":1,"x":{"y":2}'`, `'{"xy":"needle","x":12'`];
const ODD_DOCUMENTS = [`'{"x":"a\\u0041\\n"}'`, `'{"x":123456789012345678901}'`, `'{"\\u0078":3,"y":1}'`, `'{x:4,y:{z:1},}'`, `'{"x":.5}'`, `'{"x":9223372036854775807}'`, `'{"x":-9223372036854775808}'`, `'{"x":[1]}'`, `'{"x":{"y":1}}'`];

/** @param {(n: number) => number} rnd @param {readonly string[]} list @returns {string} */
export const pick = (rnd, list) => list[rnd(list.length)] ?? '';
/** @param {string} text @returns {string} */
export const quote = (text) => `'${text.replaceAll("'", "''")}'`;

/** @param {(n: number) => number} rnd @param {string} type @returns {string} a literal, mostly of the column's type */
export function value(rnd, type) {
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

/** @template T @param {number} n @param {() => T} make @returns {T[]} */
export const times = (n, make) => Array.from({ length: n }, make);
