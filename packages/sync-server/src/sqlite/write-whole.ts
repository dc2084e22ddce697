import { writeSync } from 'node:fs';

/**
 * Writes all bytes at an offset. A nearly full disk takes the first of them without an error; the call for the others
 * then throws the error of the system, such as ENOSPC.
 */
export function writeWhole(descriptor: number, bytes: Uint8Array, offset: number): void {
  for (let written = 0; written < bytes.byteLength;)
    written += writeSync(descriptor, bytes, written, bytes.byteLength - written, offset + written);
}
