/** A colour for a person, in every page the same; white text can be read on it. */
export function peerColor(principal: string): string {
  return `oklch(50% 0.13 ${hueOf(principal)})`;
}

/** The same, to be seen through: for what somebody has selected. */
export function peerColorLight(principal: string): string {
  return `oklch(70% 0.12 ${hueOf(principal)} / 0.3)`;
}

function hueOf(principal: string): number {
  let hue = 0;
  for (const character of principal) hue = (hue * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return hue;
}
