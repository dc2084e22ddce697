import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import type { ChangesetOrigin } from './changeset.ts';
import { CHANGESET_HASH_BYTES } from './changeset-hash.ts';

const SITE_ID_BYTES = 16;

/** The size of the shortest origin. */
export const ORIGIN_BYTES: number = SITE_ID_BYTES + 1 + CHANGESET_HASH_BYTES;

export function writeOrigin(writer: ByteWriter, { siteId, sequence, hash }: ChangesetOrigin): void {
  writer.bytes(siteId);
  writer.varint(sequence);
  writer.bytes(hash);
}

export function readOrigin(reader: ByteReader): ChangesetOrigin {
  const siteId = reader.bytes(SITE_ID_BYTES).slice();
  const sequence = reader.varint();
  if (sequence === 0) reader.fail('an origin has no sequence');
  return { siteId, sequence, hash: reader.bytes(CHANGESET_HASH_BYTES).slice() };
}

/** The bytes that a client stores with a re-created changeset. */
export function encodeOrigin(origin: ChangesetOrigin): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writeOrigin(writer, origin);
  return writer.finish();
}

/** Throws `storage-corrupt` for bytes that encodeOrigin does not produce. */
export function decodeOrigin(bytes: Uint8Array): ChangesetOrigin {
  const reader = new ByteReader(bytes, 'storage-corrupt');
  const origin = readOrigin(reader);
  reader.expectEnd();
  return origin;
}
