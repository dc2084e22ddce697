import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';

/** Client to server: a delivery is durably applied. The server may forget the outcomes up to it. */
export interface Confirm {
  readonly type: 'confirm';
  readonly cursor: number;
  readonly lastAckedSequence: number;
}

export function writeConfirm(writer: ByteWriter, confirm: Confirm): void {
  writer.varint(confirm.cursor);
  writer.varint(confirm.lastAckedSequence);
}

export function readConfirm(reader: ByteReader): Confirm {
  return { type: 'confirm', cursor: reader.varint(), lastAckedSequence: reader.varint() };
}
