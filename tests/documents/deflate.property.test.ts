import { deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflate } from '#client/worker/changelog/deflate.ts';
import { inflate } from '#client/worker/changelog/inflate.ts';

/** Bytes with repetitions: pieces of a small alphabet, some of them many times. */
const repetitive = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 40 })), { maxLength: 30 })
  .map((pieces) =>
    Uint8Array.from(pieces.flatMap(([piece, times]) => Array.from({ length: times }, () => [...piece]).flat())),
  );
const inputs = fc.oneof(fc.uint8Array({ maxLength: 5_000 }), repetitive);

describe('deflate', () => {
  it('writes data that zlib and inflate can read', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const deflated = deflate(input);
        expect(new Uint8Array(inflateRawSync(deflated))).toEqual(input);
        expect(inflate(deflated, input.length)).toEqual(input);
      }),
    );
  });

  it("compresses text to within a twentieth of zlib's size", () => {
    const text = new TextEncoder().encode(
      Array.from({ length: 4_000 }, (_, i) => `[${i * 17},"${(i * 7919) % 1000}",{"body":"edit ${i % 37}"}]`).join(),
    );
    expect(deflate(text).length).toBeLessThan(1.05 * deflateRawSync(text, { level: 6 }).length);
  });

  it('writes codes of at most 15 bits for any frequencies', () => {
    // Fibonacci numbers make the deepest tree.
    let [a, b] = [1, 1];
    const bytes: number[] = [];
    for (let symbol = 0; symbol < 22; symbol++) {
      for (let i = 0; i < a; i++) bytes.push(symbol, (i * 31 + symbol * 7) & 0x7f);
      [a, b] = [b, a + b];
    }
    const input = Uint8Array.from(bytes);
    expect(new Uint8Array(inflateRawSync(deflate(input)))).toEqual(input);
  });
});

describe('inflate', () => {
  it('reads stored, fixed and dynamic blocks of zlib', () => {
    fc.assert(
      fc.property(inputs, fc.constantFrom(0, 1, 9), fc.constantFrom(0, 4), (input, level, strategy) => {
        expect(inflate(deflateRawSync(input, { level, strategy }), input.length)).toEqual(input);
      }),
    );
  });

  it('throws storage-corrupt for any other bytes and for a wrong size, and never hangs', () => {
    fc.assert(
      fc.property(inputs, fc.nat(), fc.integer({ min: 1, max: 255 }), (input, at, flip) => {
        const deflated = deflate(input);
        deflated[at % deflated.length] = (deflated[at % deflated.length] as number) ^ flip;
        try {
          expect(inflate(deflated, input.length)).toHaveLength(input.length);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'storage-corrupt' });
        }
        expect(() => inflate(deflate(input), input.length + 1)).toThrow('the size differs');
      }),
    );
  });
});
