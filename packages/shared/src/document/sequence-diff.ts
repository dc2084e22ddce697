/** Replaces `remove` elements at `at` of the old sequence with the elements `from` to `to` of the new one. */
export interface Splice {
  readonly at: number;
  readonly remove: number;
  readonly from: number;
  readonly to: number;
}

/** Limit for removals and insertions, beyond which the rest is replaced as a whole, because the cost is quadratic. */
const MAX_EDITS = 400;

/**
 * The splices that turn one sequence into the other, from left to right and never adjacent: the fewest removals and
 * insertions (Myers, "An O(ND) difference algorithm and its variations"), unless there are very many.
 */
export function diffSequences(
  oldLength: number,
  newLength: number,
  equal: (oldIndex: number, newIndex: number) => boolean,
): Splice[] {
  let start = 0;
  while (start < oldLength && start < newLength && equal(start, start)) start++;
  let end = 0;
  while (end < oldLength - start && end < newLength - start && equal(oldLength - 1 - end, newLength - 1 - end)) end++;
  const oldCount = oldLength - start - end;
  const newCount = newLength - start - end;
  if (oldCount === 0 && newCount === 0) return [];
  if (oldCount === 0 || newCount === 0) return [{ at: start, remove: oldCount, from: start, to: start + newCount }];
  const matches = commonSubsequence(oldCount, newCount, (i, j) => equal(start + i, start + j));
  const splices: Splice[] = [];
  let oldAt = 0;
  let newAt = 0;
  for (const [oldIndex, newIndex] of [...matches, [oldCount, newCount] as const]) {
    if (oldIndex > oldAt || newIndex > newAt)
      splices.push({ at: start + oldAt, remove: oldIndex - oldAt, from: start + newAt, to: start + newIndex });
    oldAt = oldIndex + 1;
    newAt = newIndex + 1;
  }
  return splices;
}

/** A longest list of pairs of equal elements that rise on both sides; empty when the search takes too long. */
function commonSubsequence(
  oldCount: number,
  newCount: number,
  equal: (i: number, j: number) => boolean,
): (readonly [number, number])[] {
  const limit = Math.min(oldCount + newCount, MAX_EDITS);
  const furthest = new Int32Array(2 * limit + 3);
  const middle = limit + 1;
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits++) {
    trace.push(furthest.slice());
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down =
        diagonal === -edits ||
        (diagonal !== edits && at(furthest, middle + diagonal - 1) < at(furthest, middle + diagonal + 1));
      let i = down ? at(furthest, middle + diagonal + 1) : at(furthest, middle + diagonal - 1) + 1;
      let j = i - diagonal;
      while (i < oldCount && j < newCount && equal(i, j)) {
        i++;
        j++;
      }
      furthest[middle + diagonal] = i;
      if (i >= oldCount && j >= newCount) return walkBack(trace, middle, oldCount, newCount, edits);
    }
  }
  return [];
}

function walkBack(
  trace: readonly Int32Array[],
  middle: number,
  oldCount: number,
  newCount: number,
  found: number,
): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  let i = oldCount;
  let j = newCount;
  for (let edits = found; edits >= 0; edits--) {
    const furthest = trace[edits] as Int32Array;
    const diagonal = i - j;
    const down =
      diagonal === -edits ||
      (diagonal !== edits && at(furthest, middle + diagonal - 1) < at(furthest, middle + diagonal + 1));
    const previous = down ? diagonal + 1 : diagonal - 1;
    const fromI = edits === 0 ? 0 : at(furthest, middle + previous);
    const fromJ = edits === 0 ? 0 : fromI - previous;
    while (i > fromI && j > fromJ) pairs.push([--i, --j]);
    i = fromI;
    j = fromJ;
  }
  return pairs.reverse();
}

function at(array: Int32Array, index: number): number {
  return array[index] as number;
}
