import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import type { Changeset } from '../change/changeset.ts';
import { CHANGESET_HASH_BYTES } from '../change/changeset-hash.ts';
import { MAX_PUSH_CHANGESETS } from './limits.ts';

/** A changeset as sent, with its age: clocks are compared by ages alone (clock/stamp.ts). */
export interface PushedChangeset extends Changeset {
  readonly ageUs: number;
}

/**
 * Client to server: changesets of one site in order, without gaps. A push can be repeated; each changeset takes effect
 * once.
 */
export interface Push {
  readonly type: 'push';
  /** The hash of the changeset before the first one of the push. The server computes the others. */
  readonly previousHash: Uint8Array;
  /**
   * Changesets up to this number were written under an earlier log epoch. Their bases count as far as this log still
   * has that epoch. 0: none.
   */
  readonly olderEpochUpTo: number;
  /** At least one. */
  readonly changesets: readonly PushedChangeset[];
}

export function writePush(writer: ByteWriter, push: Push): void {
  writer.bytes(push.previousHash);
  writer.varint(push.olderEpochUpTo);
  writer.varint(push.changesets[0]?.sequence ?? 0);
  writer.varint(push.changesets.length);
  for (const { stampUs, ageUs, base, body } of push.changesets) {
    writer.varint(stampUs);
    writer.varint(ageUs);
    writer.varint(base);
    writer.lengthPrefixed(body);
  }
}

export function readPush(reader: ByteReader): Push {
  const previousHash = reader.bytes(CHANGESET_HASH_BYTES).slice();
  const olderEpochUpTo = reader.varint();
  const firstSequence = reader.varint();
  const count = reader.count(4);
  if (count === 0 || firstSequence === 0) reader.fail('push without changesets');
  if (count > MAX_PUSH_CHANGESETS) reader.fail('too many changesets');
  const changesets: PushedChangeset[] = [];
  for (let i = 0; i < count; i++) {
    changesets.push({
      sequence: firstSequence + i,
      stampUs: reader.varint(),
      ageUs: reader.varint(),
      base: reader.varint(),
      body: reader.lengthPrefixed().slice(),
    });
  }
  return { type: 'push', previousHash, olderEpochUpTo, changesets };
}
