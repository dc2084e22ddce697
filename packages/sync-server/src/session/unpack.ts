import { inflateRawSync } from 'node:zlib';
import { decodePacked, RockpoolError } from '@rockpool/shared';

/**
 * The message itself, where it came packed. Never makes more bytes than it said. Throws `frame-invalid` and
 * `frame-too-large`.
 */
export function unpack(message: Uint8Array): Uint8Array {
  const packed = decodePacked(message);
  if (packed === null) return message;
  const bytes = inflate(packed.deflated, packed.sizeBytes);
  if (bytes?.length !== packed.sizeBytes)
    throw new RockpoolError('frame-invalid', { problem: 'a packed message is not what it says' });
  return bytes;
}

function inflate(deflated: Uint8Array, maxOutputLength: number): Uint8Array | null {
  try {
    return inflateRawSync(deflated, { maxOutputLength });
  } catch {
    return null;
  }
}
