import type { GuardedFile } from '../media/guarded-file.ts';
import { generationFromHeader } from './generation.ts';
import type { Generation } from './generation.ts';
import { RecordReader } from './record-reader.ts';
import { readSegmentHeader } from './segment-header.ts';
import type { SegmentHeader } from './segment-header.ts';

/** The result of reading both segments from their start. */
export interface RecoveredLog {
  readonly pageSizeBytes: number;
  /** The generation that is being written; `undefined` if the database file has everything. */
  readonly active: Generation | undefined;
  /** The complete generation before it, when the database file may not hold all of it yet. */
  readonly sealed: Generation | undefined;
  /** Number of the newest generation in any header. */
  readonly newest: number;
  readonly lastTransactionId: number;
}

/**
 * Reads the log up to the first invalid record. Changes nothing, so readers also use it while a writer is open. Returns
 * `undefined` when no segment has a valid header: no writer ever opened this database.
 *
 * Why the result is a prefix of the commits:
 * 1. A record counts only if its checksum holds and it contains the checksum of the record before: no gaps, nothing
 *    stale.
 * 2. A generation counts only if its base is available: the generation before it ends at exactly that base, or is
 *    `done` (which is flushed only after the database file is), or the base is the database file itself (`isFirst`).
 * 3. A segment is reused only after its `done` is flushed, so a half-overwritten old generation can never be mistaken
 *    for a live one.
 */
export function readLog(segments: readonly [GuardedFile, GuardedFile]): RecoveredLog | undefined {
  const headers = readHeaders(segments);
  const newest = headers.at(-1);
  if (newest === undefined) return undefined;
  const result = (active: Generation | undefined, sealed?: Generation): RecoveredLog => ({
    pageSizeBytes: newest.pageSizeBytes,
    active,
    sealed,
    newest: newest.generation,
    lastTransactionId: active?.lastTransactionId ?? newest.baseTransactionId,
  });
  if (newest.state === 'importing') return result(undefined);
  const [older, newer] = liveHeaders(headers);
  if (older === undefined) return result(undefined);
  if (newer === undefined) return hasBase(older, headers) ? result(scan(segments, older)) : result(undefined);
  const first = scan(segments, older);
  const continues = first.lastTransactionId === newer.baseTransactionId && first.lastChecksum === newer.baseChecksum;
  // If the older generation ends elsewhere, the base of the newer one is lost. The newer generation then has no effect:
  // no later record of the older one can have the checksum of that base, and the next swap overwrites the newer one.
  return continues ? result(scan(segments, newer), first) : result(first);
}

/** Returns the header of an import that is decided but unfinished, if there is one. It invalidates all generations. */
export function pendingImport(segments: readonly [GuardedFile, GuardedFile]): SegmentHeader | undefined {
  const newest = readHeaders(segments).at(-1);
  return newest?.state === 'importing' ? newest : undefined;
}

/** Returns the valid headers, older first. */
function readHeaders(segments: readonly [GuardedFile, GuardedFile]): SegmentHeader[] {
  const headers = segments.map(readSegmentHeader).filter((header) => header !== undefined);
  return headers.sort((left, right) => left.generation - right.generation);
}

/**
 * Selects the valid generations, oldest first: not `done`, not older than a `done` one, and not older than a first one.
 */
function liveHeaders(sorted: readonly SegmentHeader[]): readonly SegmentHeader[] {
  const done = sorted.findLast((header) => header.state === 'done')?.generation ?? -1;
  const first = sorted.findLast((header) => header.isFirst)?.generation ?? 0;
  return sorted.filter((header) => header.generation > done && header.generation >= first);
}

/** A generation without its predecessor counts only if the database file contains the state that it starts from. */
function hasBase(header: SegmentHeader, headers: readonly SegmentHeader[]): boolean {
  return (
    header.isFirst || headers.some((other) => other.state === 'done' && other.generation === header.generation - 1)
  );
}

function scan(segments: readonly [GuardedFile, GuardedFile], header: SegmentHeader): Generation {
  const generation = generationFromHeader(header);
  const segment = segments[header.generation % 2]!;
  const reader = new RecordReader(header.pageSizeBytes);
  while (reader.readTransaction(segment, generation, 'every-record') === 'commit');
  return generation;
}
