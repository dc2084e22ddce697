import { RECORDS_START } from './segment-header.ts';
import type { SegmentHeader } from './segment-header.ts';

/** What a connection knows of one generation of the log: which pages its records hold, and where it ends. */
export interface Generation {
  readonly number: number;
  /** 0 or 1: the segment file that holds it. */
  readonly segment: number;
  readonly salt: number;
  readonly baseTransactionId: number;
  readonly baseChecksum: number;
  readonly baseSizeBytes: number;
  readonly isFirst: boolean;
  /** Page number (1 is the first) → where its latest version starts in the segment file. */
  readonly positions: Map<number, number>;
  /** Where the next record goes. */
  end: number;
  lastTransactionId: number;
  lastChecksum: number;
  /** Where the last record starts; 0 when there is none. */
  lastRecordAt: number;
  /** Size of the database after the last record. */
  sizeBytes: number;
  /**
   * The smallest that the database ever was in this generation: beyond it, the database file may hold what was cut off
   * since.
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

/** Takes note of the database's size after a transaction; pages that were cut off leave the index. */
export function resizeGeneration(generation: Generation, sizeBytes: number, pageSizeBytes: number): void {
  if (sizeBytes < generation.sizeBytes) {
    const pageCount = Math.ceil(sizeBytes / pageSizeBytes);
    for (const page of generation.positions.keys()) if (page > pageCount) generation.positions.delete(page);
    generation.smallestSizeBytes = Math.min(generation.smallestSizeBytes, sizeBytes);
  }
  generation.sizeBytes = sizeBytes;
}
