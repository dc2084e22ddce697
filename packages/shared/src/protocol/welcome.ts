import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import { CHANGESET_HASH_BYTES } from '../change/changeset-hash.ts';
import { ID_BYTES } from './hello.ts';
import { requireProtocolVersion } from './protocol-version.ts';

/**
 * Server to client: the response to a valid hello. A first delivery follows at once, even an empty one, unless the
 * client is to fetch a snapshot.
 */
export interface Welcome {
  readonly type: 'welcome';
  readonly protocolVersion: number;
  /**
   * 16 bytes that the server issued when it created the database. A restore from a backup keeps them; deleting the
   * database and creating another one under the same name does not. The client binds its local database to them
   * permanently.
   */
  readonly databaseIdentity: Uint8Array;
  readonly logEpoch: Uint8Array;
  /** The newest watermark of the log. */
  readonly watermark: number;
  /** The last changeset of this site that the server has decided. The client pushes from the next one on. */
  readonly lastAckedSequence: number;
  /**
   * The hash of that changeset (zeros for none). A client with a different hash for that number, or with no such
   * changeset, is a copy: the outcomes that follow do not belong to its changesets, so it takes a new site id before it
   * applies any.
   */
  readonly decidedHash: Uint8Array;
  /**
   * Whether the client's cursor belongs to a different log epoch or is below the tombstone horizon, or the client holds
   * a snapshot. The first delivery is then the full state, or the part of it that the snapshot lacks. The client keeps
   * its site id, its local tables and its changesets; those after `lastAckedSequence` are pending, or pending again.
   */
  readonly fullResync: boolean;
  /**
   * The wall clock of the server, in ms since 1970, from which the client can see that the clock of the device is
   * wrong.
   */
  readonly serverNowMs: number;
  /** False if the token is read-only. */
  readonly canWrite: boolean;
  /**
   * Whether a full resync is needed and a snapshot is faster: then no delivery follows. The client fetches the snapshot
   * and sends another hello.
   */
  readonly takeSnapshot: boolean;
}

export function writeWelcome(writer: ByteWriter, welcome: Welcome): void {
  writer.varint(welcome.protocolVersion);
  writer.bytes(welcome.databaseIdentity);
  writer.bytes(welcome.logEpoch);
  writer.varint(welcome.watermark);
  writer.varint(welcome.lastAckedSequence);
  writer.bytes(welcome.decidedHash);
  writer.u8(welcome.fullResync ? 1 : 0);
  writer.varint(welcome.serverNowMs);
  writer.u8(welcome.canWrite ? 1 : 0);
  writer.u8(welcome.takeSnapshot ? 1 : 0);
}

/** Throws `protocol-version` for a welcome of an unsupported version, and `frame-invalid`. */
export function readWelcome(reader: ByteReader): Welcome {
  return {
    type: 'welcome',
    protocolVersion: requireProtocolVersion(reader.varint()),
    databaseIdentity: reader.bytes(ID_BYTES).slice(),
    logEpoch: reader.bytes(ID_BYTES).slice(),
    watermark: reader.varint(),
    lastAckedSequence: reader.varint(),
    decidedHash: reader.bytes(CHANGESET_HASH_BYTES).slice(),
    fullResync: reader.flag(),
    serverNowMs: reader.varint(),
    canWrite: reader.flag(),
    takeSnapshot: reader.flag(),
  };
}
