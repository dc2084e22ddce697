import { SQLiteBigInt, SQLiteBlobBuffer, SQLiteBlobJson } from 'drizzle-orm/sqlite-core';

/**
 * Drizzle's blob columns call Node's `Buffer`, so in a browser they fail with a ReferenceError: `bigint` and `json` on
 * write, a plain blob on read. The columns belong to the app's tables, and Drizzle has no other place where a driver
 * could encode, so the failing methods are replaced, and only where `Buffer` is missing. The bytes equal those that
 * Drizzle writes in Node; a plain blob reads as `Uint8Array`.
 */
export function fixBlobModes(): void {
  if ('Buffer' in globalThis) return;
  const encoder = new TextEncoder();
  SQLiteBigInt.prototype.mapToDriverValue = (value: bigint) => encoder.encode(value.toString()) as never;
  SQLiteBlobJson.prototype.mapToDriverValue = (value: unknown) => encoder.encode(JSON.stringify(value)) as never;
  SQLiteBlobBuffer.prototype.mapFromDriverValue = (value) => value as never;
}
