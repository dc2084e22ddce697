import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256 } from './sha256.ts';

declare const crypto: { readonly subtle: { digest(algorithm: 'SHA-256', bytes: Uint8Array): Promise<ArrayBuffer> } };

/** The hash as computed by the runtime's own cryptography. */
async function expected(...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(parts.flatMap((part) => [...part]))));
}

it('SHA-256 equals the hash of another implementation, for any parts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 4 }), async (parts) => {
      expect(sha256(...parts)).toEqual(await expected(...parts));
    }),
    { numRuns: 500 },
  );
});

it('SHA-256 is correct for every length around the end of a block, and far beyond', async () => {
  for (const length of [...Array.from({ length: 200 }, (_, index) => index), 100_003]) {
    const bytes = new Uint8Array(length).map((_, index) => (index * 31) & 0xff);
    expect(sha256(bytes), String(length)).toEqual(await expected(bytes));
  }
});
