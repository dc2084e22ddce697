import { inflateRawSync } from 'node:zlib';
import { decodePacked, RockpoolError } from '@rockpool/shared';

/**
 * Inflates a packed message; returns any other message unchanged. Never produces more bytes than the message declares.
 * Throws `frame-invalid` and `frame-too-large`.
 */
export function unpack(message: Uint8Array): Uint8Array {
  const packed = decodePacked(message);
  if (packed === null) return message;
  const bytes = inflate(packed.deflated, packed.sizeBytes);
  if (bytes?.length !== packed.sizeBytes)
    throw new RockpoolError('frame-invalid', { problem: 'the size of a packed message differs from the declared one' });
  return bytes;
}

function inflate(deflated: Uint8Array, maxOutputLength: number): Uint8Array | null {
  try {
    return inflateRawSync(deflated, { maxOutputLength });
  } catch {
    return null;
  }
}
