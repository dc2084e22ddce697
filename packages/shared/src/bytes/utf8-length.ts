/**
 * How many bytes a well-formed text takes in UTF-8. Most text is ASCII and short: a loop beats a call into the platform
 * by far.
 */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    // A pair of surrogates is 2 units and 4 bytes; everything else up here is 1 unit and 3 bytes.
    else if (unit >= 0xd800 && unit < 0xe000) length += 1;
    else length += 2;
  }
  return length;
}
