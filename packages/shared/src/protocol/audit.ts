import { MAX_AUDIT_RANGES } from '../audit/table-fingerprint.ts';
import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';

/** Fingerprint of one table: two sums per range. */
export interface AuditedTable {
  readonly tableId: number;
  readonly sums: readonly number[];
}

/**
 * Client to server: fingerprints of the tables at a watermark, without pending writes. One range asks whether the table
 * is the same; several ranges, a power of two, ask for the rows of those that differ.
 */
export interface Audit {
  readonly type: 'audit';
  readonly cursor: number;
  readonly tables: readonly AuditedTable[];
}

export function writeAudit(writer: ByteWriter, { cursor, tables }: Audit): void {
  writer.varint(cursor);
  writer.varint(tables.length);
  for (const { tableId, sums } of tables) {
    writer.u32(tableId);
    writer.varint(sums.length / 2);
    for (const sum of sums) writer.u32(sum);
  }
}

export function readAudit(reader: ByteReader): Audit {
  const cursor = reader.varint();
  const tables: AuditedTable[] = [];
  const tableCount = reader.count(13);
  for (let t = 0; t < tableCount; t++) {
    const tableId = reader.u32();
    const rangeCount = reader.count(8);
    if (rangeCount === 0 || rangeCount > MAX_AUDIT_RANGES || (rangeCount & (rangeCount - 1)) !== 0)
      reader.fail('the number of ranges is out of bounds');
    const sums = Array.from({ length: rangeCount * 2 }, () => reader.u32());
    tables.push({ tableId, sums });
  }
  return { type: 'audit', cursor, tables };
}
