import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import type { Changeset } from '../change/changeset.ts';
import { CHANGESET_HASH_BYTES } from '../change/changeset-hash.ts';

/** Changesets of one site in order, without gaps, client to server. Sent again as often as needed: it takes effect once. */
export interface Push {
  readonly type: 'push';
  /** The client's wall clock when this message is sent, ms since 1970: stamps are corrected by their age. */
  readonly clientNowMs: number;
  /** Hash of the changeset before the first one here. The server computes the others. */
  readonly previousHash: Uint8Array;
  /** At least one. */
  readonly changesets: readonly Changeset[];
}

export function writePush(writer: ByteWriter, push: Push): void {
  writer.varint(push.clientNowMs);
  writer.bytes(push.previousHash);
  writer.varint(push.changesets[0]?.sequence ?? 0);
  writer.varint(push.changesets.length);
  for (const { stampUs, base, body } of push.changesets) {
    writer.varint(stampUs);
    writer.varint(base);
    writer.lengthPrefixed(body);
  }
}

export function readPush(reader: ByteReader): Push {
  const clientNowMs = reader.varint();
  const previousHash = reader.bytes(CHANGESET_HASH_BYTES).slice();
  const firstSequence = reader.varint();
  const count = reader.count(3);
  if (count === 0 || firstSequence === 0) reader.fail('push without changesets');
  const changesets: Changeset[] = [];
  for (let i = 0; i < count; i++) {
    changesets.push({ sequence: firstSequence + i, stampUs: reader.varint(), base: reader.varint(), body: reader.lengthPrefixed().slice() });
  }
  return { type: 'push', clientNowMs, previousHash, changesets };
}
