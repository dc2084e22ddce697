/**
 * The length of a well-formed text in bytes of UTF-8. Most texts are ASCII and short, for which a loop is far faster
 * than a call into the platform.
 */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    // A surrogate pair is 2 units and 4 bytes; any other unit in this range is 3 bytes.
    else if (unit >= 0xd800 && unit < 0xe000) length += 1;
    else length += 2;
  }
  return length;
}
