import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import type { Changeset } from '../change/changeset.ts';
import { CHANGESET_HASH_BYTES } from '../change/changeset-hash.ts';
import { readOrigin, writeOrigin } from '../change/changeset-origin.ts';
import { readEarlierSites, writeEarlierSites, type EarlierSite } from './earlier-site.ts';
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
   * Changesets up to this number were written under an earlier log epoch; 0 if there are none. Their bases count only
   * up to the start of the current log epoch.
   */
  readonly olderEpochUpTo: number;
  /**
   * Earlier site ids of the sender's file: what was written as one of them is the sender's own. The server ignores one
   * whose last changeset it has not decided. At most `MAX_EARLIER_SITES`. Default: none.
   */
  readonly earlierSites?: readonly EarlierSite[];
  /** At least one. */
  readonly changesets: readonly PushedChangeset[];
}

/** `origins`: with the origins of changesets, which version 2 lacks. `sites`: with earlier sites too, since version 4. */
export type PushForm = 'plain' | 'origins' | 'sites';

export function formOf({ changesets, earlierSites = [] }: Push): PushForm {
  if (earlierSites.length > 0) return 'sites';
  return changesets.some(({ origin }) => origin !== undefined) ? 'origins' : 'plain';
}

export function writePush(writer: ByteWriter, push: Push): void {
  const { earlierSites = [] } = push;
  const withOrigins = formOf(push) !== 'plain';
  if (earlierSites.length > 0) writeEarlierSites(writer, earlierSites);
  writer.bytes(push.previousHash);
  writer.varint(push.olderEpochUpTo);
  writer.varint(push.changesets[0]?.sequence ?? 0);
  writer.varint(push.changesets.length);
  for (const { stampUs, ageUs, base, body, origin } of push.changesets) {
    writer.varint(stampUs);
    writer.varint(ageUs);
    writer.varint(base);
    if (withOrigins) writer.u8(origin === undefined ? 0 : 1);
    if (origin !== undefined) writeOrigin(writer, origin);
    writer.lengthPrefixed(body);
  }
}

export function readPush(reader: ByteReader, form: PushForm): Push {
  const withOrigins = form !== 'plain';
  const sites = form === 'sites' ? { earlierSites: readEarlierSites(reader) } : {};
  if (sites.earlierSites?.length === 0) reader.fail('a push has no earlier sites');
  const previousHash = reader.bytes(CHANGESET_HASH_BYTES).slice();
  const olderEpochUpTo = reader.varint();
  const firstSequence = reader.varint();
  const count = reader.count(4);
  if (count === 0 || firstSequence === 0) reader.fail('a push has no changesets or no first sequence');
  if (count > MAX_PUSH_CHANGESETS) reader.fail('a push has too many changesets');
  const changesets: PushedChangeset[] = [];
  for (let i = 0; i < count; i++) {
    const stampUs = reader.varint();
    const ageUs = reader.varint();
    const base = reader.varint();
    const origin = withOrigins && reader.flag() ? { origin: readOrigin(reader) } : {};
    changesets.push({
      sequence: firstSequence + i,
      stampUs,
      ageUs,
      base,
      ...origin,
      body: reader.lengthPrefixed().slice(),
    });
  }
  return { type: 'push', previousHash, olderEpochUpTo, ...sites, changesets };
}
