import { ByteReader, ByteWriter, changesetHash, cellValuesEqual } from '@rockpool/shared';
import { deflate } from './deflate.ts';
import { inflate } from './inflate.ts';
import type { StoredChangeset } from './stored-changeset.ts';

/*
 * Consecutive changesets, compressed together:
 *
 *   varint bytes when inflated   16 bytes hash of the first one   raw DEFLATE of, for each changeset,
 *   varint µs since the stamp before   zigzag shift   varint base   varint length and body   varint length and old values
 *
 * The other hashes follow from the first one, and would not compress. Changesets with an origin are not packed.
 */

const HASH_BYTES = 16;

/** Null if the hashes or stamps do not follow from each other: such changesets stay unpacked. */
export function encodePack(changesets: readonly StoredChangeset[]): Uint8Array | null {
  const rows = new ByteWriter();
  let hash: Uint8Array | null = null;
  let stampUs = 0;
  for (const { origin: _origin, ...changeset } of changesets) {
    hash = hash === null ? changeset.hash : changesetHash(hash, changeset);
    if (!cellValuesEqual(hash, changeset.hash) || changeset.stampUs < stampUs) return null;
    rows.varint(changeset.stampUs - stampUs);
    rows.int64(BigInt(changeset.shiftUs));
    rows.varint(changeset.base);
    rows.lengthPrefixed(changeset.body);
    rows.lengthPrefixed(changeset.before);
    stampUs = changeset.stampUs;
  }
  const inflated = rows.finish();
  const pack = new ByteWriter();
  pack.varint(inflated.length);
  pack.bytes((changesets[0] as StoredChangeset).hash);
  pack.bytes(deflate(inflated));
  return pack.finish();
}

/** Returns the changesets of a pack. The first one has this sequence. Throws `storage-corrupt`. */
export function decodePack(pack: Uint8Array, first: number): StoredChangeset[] {
  const reader = new ByteReader(pack, 'storage-corrupt');
  const sizeBytes = reader.varint();
  const firstHash = reader.bytes(HASH_BYTES);
  const rows = new ByteReader(inflate(reader.bytes(reader.remaining), sizeBytes), 'storage-corrupt');
  const changesets: StoredChangeset[] = [];
  let stampUs = 0;
  for (let sequence = first; rows.remaining > 0; sequence++) {
    stampUs += rows.varint();
    const shiftUs = Number(rows.int64());
    const changeset = { sequence, stampUs, shiftUs, base: rows.varint(), body: rows.lengthPrefixed() };
    const previous = changesets.at(-1);
    const hash = previous === undefined ? firstHash : changesetHash(previous.hash, changeset);
    changesets.push({ ...changeset, before: rows.lengthPrefixed(), hash, origin: null });
  }
  return changesets;
}
