/** Returns a colour for a principal: the same on every page, dark enough for white text. */
export function peerColor(principal: string): string {
  return `oklch(50% 0.13 ${hueOf(principal)})`;
}

/** Returns the same colour with transparency, for selections. */
export function peerColorLight(principal: string): string {
  return `oklch(70% 0.12 ${hueOf(principal)} / 0.3)`;
}

function hueOf(principal: string): number {
  let hue = 0;
  for (const character of principal) hue = (hue * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return hue;
}
