import { expect, it } from 'vitest';
import { MAX_PACKED_BYTES } from './limits.ts';
import { MESSAGE_CODES } from './message-codec.ts';
import { decodePacked, encodePacked, PACKED_CODE } from './packed.ts';

it('the bytes of a packed message do not change', () => {
  expect(encodePacked({ sizeBytes: 300, deflated: Uint8Array.of(1, 2, 3) })).toStrictEqual(
    Uint8Array.of(8, 0xac, 2, 1, 2, 3),
  );
  expect(decodePacked(Uint8Array.of(8, 0xac, 2, 1, 2, 3))).toStrictEqual({
    sizeBytes: 300,
    deflated: Uint8Array.of(1, 2, 3),
  });
});

it('a packed message differs from every other message', () => {
  expect(Object.values(MESSAGE_CODES)).not.toContain(PACKED_CODE);
  for (const bytes of [[], [MESSAGE_CODES.push, 1], [0]]) expect(decodePacked(Uint8Array.from(bytes))).toBeNull();
});

it('a packed message is rejected before decompression if it is damaged or declares too large a size', () => {
  for (const bytes of [[8], [8, 0], [8, 0xff], [8, ...new Uint8Array(9).fill(0xff)]]) {
    expect(() => decodePacked(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ code: 'frame-invalid' }));
  }
  const tooLarge = encodePacked({ sizeBytes: MAX_PACKED_BYTES + 1, deflated: new Uint8Array(5) });
  expect(() => decodePacked(tooLarge)).toThrow(expect.objectContaining({ code: 'frame-too-large' }));
});
