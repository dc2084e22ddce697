import { createHash, hash } from 'node:crypto';
import type { Sha256 } from '@rockpool/shared';

// Up to here it costs less to join the pieces than to make an object that takes them one by one.
const SMALL_BYTES = 64 * 1024;

/** Node's own SHA-256: a fifth of the time that JavaScript takes for a small changeset. */
export const nativeSha256: Sha256 = (first, second) => {
  if (first.length + second.length > SMALL_BYTES) return createHash('sha256').update(first).update(second).digest();
  return hash('sha256', Buffer.concat([first, second]), 'buffer');
};
