/*
 * Positions in a list, as texts whose sort order is the order of the list. There is room between any two, so one small
 * write moves an element.
 *
 * Six digits of base 62 count elements that are added at the end, or one at a time at the beginning (a list begins in
 * their middle, with room for 28 billion on each side); further digits are a fraction, for other elements. No fraction
 * ends in 0, and no position has only zeros, because nothing would fit before it.
 */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = DIGITS.length;
const WHOLE_DIGITS = 6;
const WHOLES = BASE ** WHOLE_DIGITS;
const FIRST = Math.floor(WHOLES / 2);

/** A position between `left` and `right`; null stands for an end. `left` must be smaller than `right`. */
export function positionBetween(left: string | null, right: string | null): string {
  if (left === null && right === null) return wholeToText(FIRST);
  const whole = right === null ? wholeOf(left as string) + 1 : left === null ? wholeOf(right) - 1 : 0;
  // If another author has used the last number at that end, no further one exists.
  return whole > 0 && whole < WHOLES ? wholeToText(whole) : midpoint(left ?? '', right ?? '');
}

/**
 * As many positions between `left` and `right`, in order. At the end of a list, counts on. Elsewhere, halves the room
 * again and again, so that the length of a position grows with the logarithm of their number.
 */
export function positionsBetween(left: string | null, right: string | null, count: number): string[] {
  const places: string[] = [];
  while (right === null && places.length < count) places.push((left = positionBetween(left, null)));
  if (places.length === count) return places;
  const place = positionBetween(left, right);
  return [...positionsBetween(left, place, count >> 1), place, ...positionsBetween(place, right, (count - 1) >> 1)];
}

export function isPosition(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9A-Za-z]{6,}$/.test(value);
}

/** False for positions that `positionBetween` never returns, because no position would fit before them. */
export function hasRoomBefore(position: string): boolean {
  return position.length > WHOLE_DIGITS ? !position.endsWith('0') : wholeOf(position) > 0;
}

/** Empty texts stand for the ends. */
function midpoint(left: string, right: string): string {
  let text = '';
  for (let i = 0; ; i++) {
    const low = DIGITS.indexOf(left.charAt(i)); // 0 beyond its end
    const high = i < right.length ? DIGITS.indexOf(right.charAt(i)) : BASE;
    const middle = (low + high) >> 1;
    if (middle > low) return (text + DIGITS.charAt(middle)).padEnd(WHOLE_DIGITS, '0');
    text += DIGITS.charAt(low);
    if (high > low) right = ''; // Any further digits are smaller.
  }
}

function wholeOf(position: string): number {
  let whole = 0;
  for (const digit of position.slice(0, WHOLE_DIGITS)) whole = whole * BASE + DIGITS.indexOf(digit);
  return whole;
}

function wholeToText(whole: number): string {
  let text = '';
  for (let rest = whole; text.length < WHOLE_DIGITS; rest = Math.floor(rest / BASE))
    text = DIGITS.charAt(rest % BASE) + text;
  return text;
}
