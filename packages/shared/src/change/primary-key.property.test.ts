import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyPart } from '../../testing/arbitraries.ts';
import { decodeKey, encodeKey, keyToString } from './primary-key.ts';

const key = fc.array(keyPart, { minLength: 1, maxLength: 3 });

describe('primary keys', () => {
  it('survive encoding', () => {
    fc.assert(fc.property(key, (parts) => void expect(decodeKey(encodeKey(parts))).toStrictEqual(parts)));
  });

  it('have equal bytes and equal strings exactly when they are equal', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        const sameBytes = encodeKey(a).join() === encodeKey(b).join();
        expect(keyToString(a) === keyToString(b)).toBe(sameBytes);
      }),
    );
    expect(keyToString([1n])).not.toBe(keyToString([1]));
    expect(keyToString(['1'])).not.toBe(keyToString([1n]));
  });

  it('cannot hold NULL', () => {
    expect(() => encodeKey(['a', null])).toThrow(expect.objectContaining({ code: 'key-invalid' }));
  });
});
