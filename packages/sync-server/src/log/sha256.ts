import { createHash, hash } from 'node:crypto';
import type { Sha256 } from '@rockpool/shared';

// Up to this size, joining the parts is faster than a Hash object that takes them one by one.
const SMALL_BYTES = 64 * 1024;

/** Node's native SHA-256, which takes a fifth of the time of the JavaScript version for a small changeset. */
export const nativeSha256: Sha256 = (first, second) => {
  if (first.length + second.length > SMALL_BYTES) return createHash('sha256').update(first).update(second).digest();
  return hash('sha256', Buffer.concat([first, second]), 'buffer');
};
