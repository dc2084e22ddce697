// Below this size a loop is faster than `set(subarray(…))`, which creates an object.
const SHORT_BYTES = 48;

/**
 * Copies UTF-8 and returns its length in UTF-16 units, or -1 when it is not valid UTF-8 (the copied bytes are then
 * meaningless). With the length of each value, many values can be decoded as one string and split again.
 */
export function copyUtf8(
  source: Uint8Array,
  address: number,
  sizeBytes: number,
  target: Uint8Array,
  targetAt: number,
): number {
  const end = address + sizeBytes;
  if (sizeBytes > SHORT_BYTES) {
    target.set(source.subarray(address, end), targetAt);
    return utf16Units(source, address, end);
  }
  let seen = 0;
  for (let i = 0; i < sizeBytes; i++) {
    const byte = source[address + i] as number;
    target[targetAt + i] = byte;
    seen |= byte;
  }
  return seen < 0x80 ? sizeBytes : utf16Units(source, address, end);
}

/**
 * Follows the table of well-formed byte sequences:
 * https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/#G27506
 */
function utf16Units(bytes: Uint8Array, start: number, end: number): number {
  let units = 0;
  let at = start;
  while (at < end) {
    const lead = bytes[at] as number;
    if (lead < 0x80) at += 1;
    else {
      const following = lead < 0xc2 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : -1;
      if (following < 0 || at + following >= end) return -1;
      const second = bytes[at + 1] as number;
      const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (second < lowest || second > highest) return -1;
      for (let i = 2; i <= following; i++) if (((bytes[at + i] as number) & 0xc0) !== 0x80) return -1;
      at += following + 1;
      if (following === 3) units += 1;
    }
    units += 1;
  }
  return units;
}
