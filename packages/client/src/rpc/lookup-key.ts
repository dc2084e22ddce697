/**
 * Returns a text that is equal for any two values that SQLite could find equal by `=`, whatever the column's affinity.
 * Different values may share a text; a query then runs once more than necessary.
 */
export function lookupKey(value: null | number | bigint | string | boolean | Uint8Array): string {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `blob:${value.length}:${value.subarray(0, LONGEST_BLOB_PREFIX).join(',')}`;
  // A numeric column converts '7' to 7, and a text column converts 7 to '7'.
  const number = typeof value !== 'string' || NUMBER.test(value) ? Number(value) : Number.NaN;
  if (!Number.isNaN(number)) return `number:${number === 0 ? 0 : number}`;
  return `text:${String(value).slice(0, LONGEST_TEXT_PREFIX)}`;
}

// The texts that SQLite accepts as numbers; JavaScript accepts others too.
const NUMBER = /^[ \t\n\v\f\r]*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[ \t\n\v\f\r]*$/i;

// Long enough to distinguish ids, short enough to send with every commit.
const LONGEST_TEXT_PREFIX = 64;
const LONGEST_BLOB_PREFIX = 32;

// From U+D800 on, UTF-16 order (JavaScript's) differs from UTF-8 order (SQLite's).
const FIRST_SURROGATE = 0xd800;
const TEXT = 'text:';
const NUMERIC = 'number:';

/**
 * Returns true only if every value of the first key certainly sorts before every value of the second in an index that
 * compares bytes. That is certain for texts that are not numeric; a numeric-looking text may be a number or a text. In
 * a numeric column (`ofNumbers`: affinity INTEGER, REAL or NUMERIC) it is a number.
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

/** True for a truncated key: the rest of it is unknown. */
function isCut(key: string): boolean {
  return key.length === TEXT.length + LONGEST_TEXT_PREFIX;
}
