import { sha256 } from '@noble/hashes/sha2.js';
import { ByteWriter } from '../bytes/byte-writer.ts';
import type { Changeset } from './changeset.ts';

export const CHANGESET_HASH_BYTES = 16;

/** The predecessor hash of a site's first changeset. */
export const FIRST_PREVIOUS_HASH: Uint8Array = new Uint8Array(CHANGESET_HASH_BYTES);

/**
 * Links a changeset to its predecessor: the first 16 bytes of SHA-256 over the predecessor's hash, the numbers and the body.
 * Two changesets of one site with the same number and different hashes mean that the client's file was copied.
 */
export function changesetHash(previousHash: Uint8Array, changeset: Changeset): Uint8Array<ArrayBuffer> {
  const header = new ByteWriter();
  header.bytes(previousHash);
  header.varint(changeset.sequence);
  header.varint(changeset.stampUs);
  header.varint(changeset.base);
  const hash = sha256.create().update(header.finish()).update(changeset.body).digest();
  return hash.slice(0, CHANGESET_HASH_BYTES) as Uint8Array<ArrayBuffer>;
}
