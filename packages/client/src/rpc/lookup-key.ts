/**
 * A text that is the same for any two values that SQLite could find equal by `=`, whatever the column's affinity makes
 * of them. Values that differ may share one, too: then a query runs once more than it has to.
 */
export function lookupKey(value: null | number | bigint | string | boolean | Uint8Array): string {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `blob:${value.length}:${value.subarray(0, LONGEST_BLOB_PREFIX).join(',')}`;
  // A column of numbers takes '7' for 7, and one of texts 7 for '7'.
  const number = typeof value !== 'string' || NUMBER.test(value) ? Number(value) : Number.NaN;
  if (!Number.isNaN(number)) return `number:${number === 0 ? 0 : number}`;
  return `text:${String(value).slice(0, LONGEST_TEXT_PREFIX)}`;
}

// What SQLite takes for a number in a text: fewer than JavaScript does.
const NUMBER = /^[ \t\n\v\f\r]*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[ \t\n\v\f\r]*$/i;

// Long enough to tell ids apart, short enough to travel with every commit.
const LONGEST_TEXT_PREFIX = 64;
const LONGEST_BLOB_PREFIX = 32;

// From here on the order of UTF-16, which is JavaScript's, is not that of UTF-8, which is SQLite's.
const FIRST_SURROGATE = 0xd800;
const TEXT = 'text:';
const NUMERIC = 'number:';

/**
 * True where any value of the one key surely comes before any of the other in an index that compares bytes. That is
 * known of texts that are no numbers; what looks like a number may be one or a text. In a column of numbers
 * (`ofNumbers`: its affinity is INTEGER, REAL or NUMERIC) it is one.
 */
export function isKeyBefore(one: string, other: string, ofNumbers: boolean): boolean {
  if (ofNumbers && one.startsWith(NUMERIC) && other.startsWith(NUMERIC))
    return Number(one.slice(NUMERIC.length)) < Number(other.slice(NUMERIC.length));
  if (!one.startsWith(TEXT) || !other.startsWith(TEXT)) return false;
  const longest = Math.max(one.length, other.length);
  let at = TEXT.length;
  while (at < longest && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  if (at === longest) return false;
  if (at === one.length) return !isCut(one);
  if (at === other.length) return false;
  const [unit, otherUnit] = [one.charCodeAt(at), other.charCodeAt(at)];
  return unit < otherUnit && otherUnit < FIRST_SURROGATE;
}

/** What comes after the part that is kept is not known. */
function isCut(key: string): boolean {
  return key.length === TEXT.length + LONGEST_TEXT_PREFIX;
}
