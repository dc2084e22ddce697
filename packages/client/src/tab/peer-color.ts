/** Returns a colour for a principal: the same on every page, dark enough for white text. */
export function peerColor(principal: string): string {
  return `oklch(50% 0.13 ${hueOf(principal)})`;
}

/** The hue of a principal's colour, in degrees. */
export function hueOf(principal: string): number {
  let hue = 0;
  for (const character of principal) hue = (hue * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return hue;
}
