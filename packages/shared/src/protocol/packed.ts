import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { MAX_PACKED_BYTES } from './limits.ts';

/*
 * A client may send a message compressed:
 *     u8 8   varint bytes of the message   the message, as raw DEFLATE
 * The message inside is never compressed itself. Compression happens at the edge, with what each platform offers.
 */
export const PACKED_CODE = 8;

export interface PackedMessage {
  /** The size of the message inside. */
  readonly sizeBytes: number;
  readonly deflated: Uint8Array;
}

export function encodePacked({ sizeBytes, deflated }: PackedMessage): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u8(PACKED_CODE);
  writer.varint(sizeBytes);
  writer.bytes(deflated);
  return writer.finish();
}

/**
 * Null for a message that is not compressed. Throws `frame-invalid`, and `frame-too-large` for a message that would
 * exceed MAX_PACKED_BYTES.
 */
export function decodePacked(bytes: Uint8Array): PackedMessage | null {
  if (bytes[0] !== PACKED_CODE) return null;
  const reader = new ByteReader(bytes, 'frame-invalid');
  reader.u8();
  const sizeBytes = reader.varint();
  if (sizeBytes === 0) reader.fail('the packed message is empty');
  if (sizeBytes > MAX_PACKED_BYTES)
    throw new RockpoolError('frame-too-large', { sizeBytes, limitBytes: MAX_PACKED_BYTES });
  return { sizeBytes, deflated: reader.bytes(reader.remaining) };
}
