import { createHash, hash } from 'node:crypto';
import type { Sha256 } from '@rockpool/shared';

// Up to this size, joining the parts is faster than updating a Hash object with each of them.
const SMALL_BYTES = 64 * 1024;
const joined = Buffer.allocUnsafeSlow(SMALL_BYTES);

/** Node's native SHA-256, which takes a fifth of the time of the JavaScript version for a small changeset. */
export const nativeSha256: Sha256 = (first, second) => {
  const length = first.length + second.length;
  if (length > SMALL_BYTES) return createHash('sha256').update(first).update(second).digest();
  joined.set(first);
  joined.set(second, first.length);
  return hash('sha256', joined.subarray(0, length), 'buffer');
};
