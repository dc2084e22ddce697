/**
 * A text that is the same for any two values that SQLite could find equal by `=`, whatever the column's affinity makes of them. Values that differ may
 * share one, too: then a query runs once more than it has to.
 */
export function lookupKey(value: null | number | bigint | string | boolean | Uint8Array): string {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `blob:${value.length}:${value.subarray(0, LONGEST_BLOB_PREFIX).join(',')}`;
  const number = Number(value);
  // A column of numbers takes '7' for 7, and one of texts 7 for '7'.
  if (!Number.isNaN(number)) return `number:${number === 0 ? 0 : number}`;
  return `text:${String(value).slice(0, LONGEST_TEXT_PREFIX)}`;
}

// Long enough to tell ids apart, short enough to travel with every commit.
const LONGEST_TEXT_PREFIX = 64;
const LONGEST_BLOB_PREFIX = 32;
