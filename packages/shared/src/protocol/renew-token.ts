import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';

/** Client to server: a new token for the same principal and database, before the old one expires. */
export interface RenewToken {
  readonly type: 'renew-token';
  readonly token: string;
}

export function writeRenewToken(writer: ByteWriter, renew: RenewToken): void {
  writer.text(renew.token);
}

export function readRenewToken(reader: ByteReader): RenewToken {
  return { type: 'renew-token', token: reader.text() };
}
