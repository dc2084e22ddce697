import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { bytesToHex } from '../bytes/bytes-to-hex.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import type { CellValue } from './cell-value.ts';
import { readTagged, writeTagged } from './column-codec.ts';

/**
 * Encodes a primary key. Equal keys give equal bytes, so the bytes serve as index entries. Parts are in the key order
 * of the schema, each with its type. Throws `key-invalid` for a NULL part.
 */
export function encodeKey(parts: readonly CellValue[]): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  for (const part of parts) {
    if (part === null) throw new RockpoolError('key-invalid', { problem: 'NULL' });
    writeTagged(writer, part);
  }
  return writer.finish();
}

export function decodeKey(bytes: Uint8Array): CellValue[] {
  const reader = new ByteReader(bytes, 'key-invalid');
  const parts: CellValue[] = [];
  while (reader.remaining > 0) parts.push(readTagged(reader));
  return parts;
}

/** A string that is equal for equal keys, for use as a Map key. */
export function keyToString(parts: readonly CellValue[]): string {
  if (parts.length === 1 && typeof parts[0] === 'string') return `t${parts[0]}`;
  return parts.map(partToString).join('\u0000');
}

function partToString(part: CellValue): string {
  if (part === null) throw new RockpoolError('key-invalid', { problem: 'NULL' });
  if (typeof part === 'string') return `t${part}`;
  if (typeof part === 'bigint') return `i${part}`;
  if (typeof part === 'number') return `r${part}`;
  return `b${bytesToHex(part)}`;
}
