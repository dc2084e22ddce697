import { diffSequences } from './sequence-diff.ts';

/** Replaces `removed`, at the unit `at` of the old text, with `inserted`. */
export interface TextChange {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
}

/** The changes that turn one text into the other, from left to right, by code point: no surrogate pair is cut. */
export function diffText(before: string, after: string): TextChange[] {
  const changes = diffStretch(before, after, 0);
  const [only] = changes;
  // Either the texts have nothing in common, or the shortest path was too long to search.
  if (only === undefined || changes.length > 1 || Math.min(only.removed.length, only.inserted.length) < 2 * ANCHOR)
    return changes;
  return diffBetweenAnchors(only);
}

/** Like diffText, for a stretch that begins at the unit `unit` of the old text. */
function diffStretch(before: string, after: string, unit: number): TextChange[] {
  // Comparing equal ends is cheaper than making a list of their characters.
  const start = commonStart(before, after);
  const end = commonEnd(before, after, Math.min(before.length, after.length) - start);
  const oldChars = Array.from(before.slice(start, before.length - end));
  const newChars = Array.from(after.slice(start, after.length - end));
  let at = unit + start;
  let character = 0;
  return diffSequences(oldChars.length, newChars.length, (i, j) => oldChars[i] === newChars[j]).map(
    (splice): TextChange => {
      for (; character < splice.at; character++) at += (oldChars[character] as string).length;
      return {
        at,
        removed: oldChars.slice(splice.at, splice.at + splice.remove).join(''),
        inserted: newChars.slice(splice.from, splice.to).join(''),
      };
    },
  );
}

/** Stretches of this many units that occur in both texts count as the same text. */
const ANCHOR = 32;

/** Divides a change at long stretches that it would remove and insert again. */
function diffBetweenAnchors({ at, removed, inserted }: TextChange): TextChange[] {
  const changes: TextChange[] = [];
  let [oldFrom, newFrom] = [0, 0];
  for (const [oldAt, newAt] of [...findAnchors(removed, inserted), [removed.length, inserted.length] as const]) {
    const oldChars = removed.slice(oldFrom, oldAt);
    const newChars = inserted.slice(newFrom, newAt);
    // The anchor begins where the difference before it ends.
    changes.push(...diffStretch(oldChars, newChars, at + oldFrom));
    [oldFrom, newFrom] = [oldAt, newAt];
  }
  return changes;
}

/** Pairs of offsets, rising in both texts, at which ANCHOR units are equal. None is within a surrogate pair. */
function findAnchors(before: string, after: string): (readonly [oldAt: number, newAt: number])[] {
  const places = new Map<string, number>();
  for (let at = 0; at + ANCHOR <= before.length; at += ANCHOR) {
    const block = before.slice(at, at + ANCHOR);
    // A stretch that occurs twice does not show where it moved.
    places.set(block, places.has(block) ? -1 : at);
  }
  const found: (readonly [number, number])[] = [];
  for (let at = 0; at + ANCHOR <= after.length;) {
    const place = places.get(after.slice(at, at + ANCHOR)) ?? -1;
    const isWhole = place >= 0 && !isLowSurrogate(after.charCodeAt(at));
    if (isWhole) found.push([place, at]);
    at += isWhole ? ANCHOR : 1;
  }
  return longestRising(found);
}

/** A longest subsequence of the pairs that rises in the first numbers; the second ones rise already. */
function longestRising(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  // For each length, the pair that ends the run of that length with the smallest first number, and for each pair its
  // predecessor.
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [index, [first]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pairs[ends[middle] as number]?.[0] ?? 0) < first) low = middle + 1;
      else high = middle;
    }
    previous[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  }
  const rising: (readonly [number, number])[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] as number)
    rising.push(pairs[index] as readonly [number, number]);
  return rising.reverse();
}

function commonStart(before: string, after: string): number {
  const length = Math.min(before.length, after.length);
  let start = 0;
  while (start < length && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  return start > 0 && isHighSurrogate(before.charCodeAt(start - 1)) ? start - 1 : start;
}

function commonEnd(before: string, after: string, most: number): number {
  let end = 0;
  while (end < most && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end++;
  return end > 0 && isLowSurrogate(before.charCodeAt(before.length - end)) ? end - 1 : end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
