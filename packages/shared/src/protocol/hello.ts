import { RockpoolError } from '../errors/rockpool-error.ts';
import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import { CHANGESET_HASH_BYTES } from '../change/changeset-hash.ts';
import { LOG_HASH_BYTES } from './delivery.ts';
import { requireProtocolVersion } from './protocol-version.ts';

export const ID_BYTES = 16;

/** The position of a snapshot in a log. */
export interface SnapshotPosition {
  readonly logEpoch: Uint8Array;
  readonly watermark: number;
  readonly logHash: Uint8Array;
}

/** First message of a session, client to server: the site, its database and its position. */
export interface Hello {
  readonly type: 'hello';
  readonly protocolVersion: number;
  /** A JWT. Never logged, never in a URL. */
  readonly token: string;
  readonly databaseId: string;
  /**
   * The identity of the server database that this local database is bound to; null before the first welcome of a server
   * that issues identities.
   */
  readonly databaseIdentity: Uint8Array | null;
  readonly siteId: Uint8Array;
  /** 32 hex digits. */
  readonly schemaHash: string;
  /** The log epoch that the cursor belongs to; null before the first welcome. */
  readonly logEpoch: Uint8Array | null;
  /** The watermark up to which the client has durably applied the log. */
  readonly cursor: number;
  /**
   * The log hash of the delivery that led to `cursor` (zeros at 0). A log that was restored from a backup and continued
   * has a different one.
   */
  readonly cursorHash: Uint8Array;
  /** The last changeset of this site with a durably applied outcome; 0 if there is none. */
  readonly lastAckedSequence: number;
  /**
   * The hash of that changeset (zeros if there is none). Only its author has this hash before the hello, so it proves
   * that a user who signs in again continues with the same file.
   */
  readonly decidedHash: Uint8Array;
  /** The number of the last changeset of this site; 0 if there is none. */
  readonly lastSequence: number;
  /** True if deliveries cannot repair the local state: the client asks for a full resync. */
  readonly fullResync: boolean;
  /**
   * The forms of a full resync that the client accepts: deliveries alone, or also a snapshot; or the snapshot that it
   * holds, so that only later changes are missing.
   */
  readonly snapshot: 'refused' | 'accepted' | SnapshotPosition;
}

export function writeHello(writer: ByteWriter, hello: Hello): void {
  writer.varint(hello.protocolVersion);
  writer.text(hello.token);
  writer.text(hello.databaseId);
  writer.u8(hello.databaseIdentity === null ? 0 : 1);
  if (hello.databaseIdentity !== null) writer.bytes(hello.databaseIdentity);
  writer.bytes(hello.siteId);
  writer.text(hello.schemaHash);
  writer.u8(hello.logEpoch === null ? 0 : 1);
  if (hello.logEpoch !== null) writer.bytes(hello.logEpoch);
  writer.varint(hello.cursor);
  writer.bytes(hello.cursorHash);
  writer.varint(hello.lastAckedSequence);
  writer.bytes(hello.decidedHash);
  writer.varint(hello.lastSequence);
  writer.u8(hello.fullResync ? 1 : 0);
  writeSnapshot(writer, hello.snapshot);
}

function writeSnapshot(writer: ByteWriter, snapshot: Hello['snapshot']): void {
  if (typeof snapshot === 'string') return writer.u8(snapshot === 'refused' ? 0 : 1);
  writer.u8(2);
  writer.bytes(snapshot.logEpoch);
  writer.varint(snapshot.watermark);
  writer.bytes(snapshot.logHash);
}

/** Throws `protocol-version` for a hello of an unsupported version, and `frame-invalid`. */
export function readHello(reader: ByteReader): Hello {
  return {
    type: 'hello',
    protocolVersion: requireProtocolVersion(reader.varint()),
    token: reader.text(),
    databaseId: reader.text(),
    databaseIdentity: reader.flag() ? reader.bytes(ID_BYTES).slice() : null,
    siteId: reader.bytes(ID_BYTES).slice(),
    schemaHash: reader.text(),
    logEpoch: reader.flag() ? reader.bytes(ID_BYTES).slice() : null,
    cursor: reader.varint(),
    cursorHash: reader.bytes(LOG_HASH_BYTES).slice(),
    lastAckedSequence: reader.varint(),
    decidedHash: reader.bytes(CHANGESET_HASH_BYTES).slice(),
    lastSequence: reader.varint(),
    fullResync: reader.flag(),
    snapshot: readSnapshot(reader),
  };
}

function readSnapshot(reader: ByteReader): Hello['snapshot'] {
  const kind = reader.u8();
  if (kind === 0) return 'refused';
  if (kind === 1) return 'accepted';
  if (kind !== 2) throw new RockpoolError('frame-invalid', { problem: 'snapshot', kind });
  return {
    logEpoch: reader.bytes(ID_BYTES).slice(),
    watermark: reader.varint(),
    logHash: reader.bytes(LOG_HASH_BYTES).slice(),
  };
}
