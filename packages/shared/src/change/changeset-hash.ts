import { ByteWriter } from '../bytes/byte-writer.ts';
import { sha256 } from '../bytes/sha256.ts';
import type { Changeset } from './changeset.ts';

export const CHANGESET_HASH_BYTES = 16;

/** The previous hash for a site's first changeset. */
export const FIRST_PREVIOUS_HASH: Uint8Array = new Uint8Array(CHANGESET_HASH_BYTES);

/** SHA-256 of two byte strings, concatenated. */
export type Sha256 = (first: Uint8Array, second: Uint8Array) => Uint8Array;

/**
 * The hash that chains a changeset to its predecessor: the first 16 bytes of SHA-256 over the previous hash, the
 * numbers and the body. Two changesets of one site with the same sequence but different hashes show that the client's
 * file was copied. `digest` can be an implementation that is faster than JavaScript.
 */
export function changesetHash(
  previousHash: Uint8Array,
  changeset: Changeset,
  digest: Sha256 = sha256,
): Uint8Array<ArrayBuffer> {
  const header = new ByteWriter();
  header.bytes(previousHash);
  header.varint(changeset.sequence);
  header.varint(changeset.stampUs);
  header.varint(changeset.base);
  return new Uint8Array(digest(header.finish(), changeset.body).subarray(0, CHANGESET_HASH_BYTES));
}
