/*
 * Where a change of a text belongs in a text that others have changed since: behind the same characters as before, as
 * near as possible to where it was.
 */

/** So many characters before a change find its place again. */
const CONTEXT_LENGTH = 12;

/** How far from where it was a run of characters or elements is looked for. */
const REACH = 1000;

/** As many characters as find a place again. */
export function lastCharacters(text: string): string {
  // Twice as many units hold as many characters, and the pair of surrogates that they may begin in.
  return Array.from(text.slice(-2 * CONTEXT_LENGTH - 1))
    .slice(-CONTEXT_LENGTH)
    .join('');
}

/** The same at the beginning. */
export function firstCharacters(text: string): string {
  return Array.from(text.slice(0, 2 * CONTEXT_LENGTH + 1))
    .slice(0, CONTEXT_LENGTH)
    .join('');
}

/**
 * Where the most of what stood before it stands: what others changed a little further before does not move a change
 * away from its word.
 */
export function placeOf(text: string, at: number, context: string, removed: string): number | null {
  for (let from = 0; from < context.length; from++) {
    const known = context.slice(from);
    const place = nearest(
      at,
      text.length,
      (start) => start >= known.length && text.startsWith(known + removed, start - known.length),
    );
    if (place !== null) return place;
  }
  return nearest(at, text.length, (start) => text.startsWith(removed, start));
}

export function nearest(at: number, length: number, matches: (start: number) => boolean): number | null {
  for (let distance = 0; distance <= Math.min(length, REACH); distance++) {
    if (at - distance >= 0 && at - distance <= length && matches(at - distance)) return at - distance;
    if (at + distance <= length && matches(at + distance)) return at + distance;
  }
  return null;
}
