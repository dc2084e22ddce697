import { RECORDS_START } from './segment-header.ts';
import type { SegmentHeader } from './segment-header.ts';

/** A connection's index of one generation of the log: which pages its records hold, and where it ends. */
export interface Generation {
  readonly number: number;
  /** The segment file that holds it: 0 or 1. */
  readonly segment: number;
  readonly salt: number;
  readonly baseTransactionId: number;
  readonly baseChecksum: number;
  readonly baseSizeBytes: number;
  readonly isFirst: boolean;
  /** Page number (from 1) → offset of its latest version in the segment file. */
  readonly positions: Map<number, number>;
  /** Offset of the next record. */
  end: number;
  lastTransactionId: number;
  lastChecksum: number;
  /** Offset of the last record; 0 if there is none. */
  lastRecordAt: number;
  /** Size of the database after the last record. */
  sizeBytes: number;
  /**
   * Smallest size of the database in this generation. Beyond it, the database file may still hold truncated content.
   */
  smallestSizeBytes: number;
}

export function generationFromHeader(header: SegmentHeader): Generation {
  return {
    number: header.generation,
    segment: header.generation % 2,
    salt: header.salt,
    baseTransactionId: header.baseTransactionId,
    baseChecksum: header.baseChecksum,
    baseSizeBytes: header.baseSizeBytes,
    isFirst: header.isFirst,
    positions: new Map(),
    end: RECORDS_START,
    lastTransactionId: header.baseTransactionId,
    lastChecksum: header.baseChecksum,
    lastRecordAt: 0,
    sizeBytes: header.baseSizeBytes,
    smallestSizeBytes: Infinity,
  };
}

/** Records the database's size after a transaction and removes truncated pages from the index. */
export function resizeGeneration(generation: Generation, sizeBytes: number, pageSizeBytes: number): void {
  if (sizeBytes < generation.sizeBytes) {
    const pageCount = Math.ceil(sizeBytes / pageSizeBytes);
    for (const page of generation.positions.keys()) if (page > pageCount) generation.positions.delete(page);
    generation.smallestSizeBytes = Math.min(generation.smallestSizeBytes, sizeBytes);
  }
  generation.sizeBytes = sizeBytes;
}
