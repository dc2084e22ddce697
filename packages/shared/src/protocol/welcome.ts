import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import { CHANGESET_HASH_BYTES } from '../change/changeset-hash.ts';
import { ID_BYTES } from './hello.ts';
import { requireProtocolVersion } from './protocol-version.ts';

/**
 * Answer to a hello that is in order, server to client. A first delivery follows at once, even when it is empty, unless
 * a file is to be taken instead.
 */
export interface Welcome {
  readonly type: 'welcome';
  readonly protocolVersion: number;
  /**
   * 16 bytes that the server issued when it created the database. Restoring the database from a backup keeps them;
   * deleting it and creating another one under the same name does not. The client binds its local database to them for
   * good.
   */
  readonly databaseIdentity: Uint8Array;
  readonly logEpoch: Uint8Array;
  /** The newest watermark of the log. */
  readonly watermark: number;
  /** The last changeset of this site that the server has decided: push from the next one on. */
  readonly lastAckedSequence: number;
  /**
   * The hash of that changeset (zeros for none). A client whose own changeset of this number has another hash, or that
   * has none of this number, is a copy: the outcomes that follow are not about its changesets, so it takes a new site
   * id before it applies any.
   */
  readonly decidedHash: Uint8Array;
  /**
   * The client's cursor means nothing here: its epoch is another one, or it is below what tombstones are kept for; or
   * it holds a file of the whole state. The first delivery is then the whole state, or what the file lacks of it. The
   * client keeps its site id, its local tables and its changesets; those after `lastAckedSequence` are pending (again).
   */
  readonly fullResync: boolean;
  /** The server's wall clock, ms since 1970: lets the client tell a person that the device's clock is wrong. */
  readonly serverNowMs: number;
  /** False: the token allows reading only. */
  readonly canWrite: boolean;
  /**
   * The whole state is needed, and comes faster as a file: no delivery follows. The client fetches the file, and says
   * hello again.
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

/** Throws `protocol-version` for a welcome of a version that this side does not speak, and `frame-invalid`. */
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
