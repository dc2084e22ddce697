import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import type { ChangesetOrigin } from '../change/changeset.ts';
import { ORIGIN_BYTES, readOrigin, writeOrigin } from '../change/changeset-origin.ts';
import { MAX_EARLIER_SITES } from './limits.ts';

/** A site id that a file had before, and what its author wrote as that site. */
export interface EarlierSite {
  /** The last changeset of the earlier site that the author wrote. */
  readonly last: ChangesetOrigin;
  /** The last changeset of the current site that was written while the rows showed those of the earlier one. */
  readonly upTo: number;
}

export function writeEarlierSites(writer: ByteWriter, sites: readonly EarlierSite[]): void {
  writer.varint(sites.length);
  for (const { last, upTo } of sites) {
    writeOrigin(writer, last);
    writer.varint(upTo);
  }
}

export function readEarlierSites(reader: ByteReader): EarlierSite[] {
  const count = reader.count(ORIGIN_BYTES + 1);
  if (count > MAX_EARLIER_SITES) reader.fail('there are too many earlier sites');
  return Array.from({ length: count }, () => ({ last: readOrigin(reader), upTo: reader.varint() }));
}

/** The bytes that a client stores. */
export function encodeEarlierSites(sites: readonly EarlierSite[]): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writeEarlierSites(writer, sites);
  return writer.finish();
}

/** Throws `storage-corrupt` for bytes that encodeEarlierSites does not produce. */
export function decodeEarlierSites(bytes: Uint8Array): EarlierSite[] {
  const reader = new ByteReader(bytes, 'storage-corrupt');
  const sites = readEarlierSites(reader);
  reader.expectEnd();
  return sites;
}
