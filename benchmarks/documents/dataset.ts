/**
 * A plain JSON document of about `sizeBytes`: members, a long text, and many small objects. The same number gives the
 * same document.
 */
export function documentOf(number: number, sizeBytes: number): string {
  const items = Array.from({ length: Math.floor(sizeBytes / 2 / ITEM_BYTES) }, (_, index) => ({
    id: `item-${index}`,
    note: `note ${(number * 7919 + index * 104_729) % 1_000_000}`,
    done: index % 3 === 0,
  }));
  const start = { group: number % GROUPS, items, n: (number * 7919) % 10_007 };
  const body = TEXT.repeat(Math.ceil(sizeBytes / TEXT.length)).slice(
    0,
    Math.max(0, sizeBytes - JSON.stringify(start).length),
  );
  return JSON.stringify({ body, ...start });
}

export const GROUPS = 4;
const ITEM_BYTES = 48;
const TEXT = 'The tide comes in, and goes out again, and nobody has written down what it said. ';

/** The document sizes, and the total bytes of each. */
export const SIZES_KIB: readonly number[] = [64, 256, 1024];
export const TOTAL_KIB = 4096;
