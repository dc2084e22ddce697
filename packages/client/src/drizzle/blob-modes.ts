import { SQLiteBigInt, SQLiteBlobBuffer, SQLiteBlobJson } from 'drizzle-orm/sqlite-core';

/**
 * Drizzle's blob columns call Node's `Buffer`, and so fail in a browser with a ReferenceError: `bigint` and `json` when
 * they are written, the plain form when it is read. The columns belong to the app's tables, and Drizzle gives a driver
 * no place to encode in, so the methods that cannot work are replaced, and only where there is no `Buffer`. The bytes
 * are those that Drizzle writes in Node; a plain blob is read as `Uint8Array`.
 */
export function fixBlobModes(): void {
  if ('Buffer' in globalThis) return;
  const encoder = new TextEncoder();
  SQLiteBigInt.prototype.mapToDriverValue = (value: bigint) => encoder.encode(value.toString()) as never;
  SQLiteBlobJson.prototype.mapToDriverValue = (value: unknown) => encoder.encode(JSON.stringify(value)) as never;
  SQLiteBlobBuffer.prototype.mapFromDriverValue = (value) => value as never;
}
