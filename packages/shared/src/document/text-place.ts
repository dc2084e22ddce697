import { isLowSurrogate } from './text-diff.ts';

/*
 * Finds the place of a change in a text that others have changed since: after the same characters as before, as near as
 * possible to the old offset.
 */

/** The number of characters before a change that are used to find its place again. */
const CONTEXT_LENGTH = 12;

/** How far from the old offset a run of characters or elements is searched for. */
const REACH = 1000;

/** The last characters, as many as are needed to find a place again. */
export function lastCharacters(text: string): string {
  // Twice as many units contain at least as many characters. One more unit, because the first one may be the second
  // half of a surrogate pair.
  return Array.from(text.slice(-2 * CONTEXT_LENGTH - 1))
    .slice(-CONTEXT_LENGTH)
    .join('');
}

/** The first characters, as many as are needed to find a place again. */
export function firstCharacters(text: string): string {
  return Array.from(text.slice(0, 2 * CONTEXT_LENGTH + 1))
    .slice(0, CONTEXT_LENGTH)
    .join('');
}

/**
 * Returns the offset after the longest match of the context, so that a change stays with its word even if others have
 * changed the text shortly before it, and the length of `removed` there. If others have removed it, the length is 0.
 */
export function placeOf(
  text: string,
  at: number,
  context: string,
  removed: string,
): readonly [start: number, length: number] {
  for (let from = 0; from <= context.length; from++) {
    const known = context.slice(from);
    const place = nearest(
      at,
      text.length,
      (start) => start >= known.length && text.startsWith(known + removed, start - known.length),
    );
    if (place !== null) return [removed === '' ? wholePlace(text, place) : place, removed.length];
  }
  return [wholePlace(text, at), 0];
}

/** The last offset up to `at` that is in the text and not between the halves of a surrogate pair. */
export function wholePlace(text: string, at: number): number {
  const place = Math.min(at, text.length);
  return isLowSurrogate(text.charCodeAt(place)) ? place - 1 : place;
}

export function nearest(at: number, length: number, matches: (start: number) => boolean): number | null {
  for (let distance = 0; distance <= Math.min(length, REACH); distance++) {
    if (at - distance >= 0 && at - distance <= length && matches(at - distance)) return at - distance;
    if (at + distance <= length && matches(at + distance)) return at + distance;
  }
  return null;
}
