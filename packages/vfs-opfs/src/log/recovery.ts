import type { GuardedFile } from '../media/guarded-file.ts';
import { generationFromHeader } from './generation.ts';
import type { Generation } from './generation.ts';
import { RecordReader } from './record-reader.ts';
import { readSegmentHeader } from './segment-header.ts';
import type { SegmentHeader } from './segment-header.ts';

/** What two segments say when they are read from the start. */
export interface RecoveredLog {
  readonly pageSizeBytes: number;
  /** The generation that is being written; `undefined` when all that counts is in the database file. */
  readonly active: Generation | undefined;
  /** The one before, complete, when it is not yet (surely) in the database file. */
  readonly sealed: Generation | undefined;
  /** Number of the newest generation that any header names. */
  readonly newest: number;
  readonly lastTransactionId: number;
}

/**
 * Reads the log as it is: valid records up to the first invalid one. Changes nothing, so readers use it beside a living
 * writer too. Returns `undefined` when no segment has a valid header: no writer ever opened this database.
 *
 * Why the result is a prefix of what was committed:
 * 1. A record counts only if its checksum holds and it names the checksum of the record before: no gaps, nothing stale.
 * 2. A generation counts only if its base is at hand: the one before ends at exactly that base, or is `done` (which is
 *    flushed only
 *    after the database file is), or the base is the database file itself (`isFirst`).
 * 3. A segment is written anew only after its `done` is flushed: a half overwritten old generation can never be taken
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
  // If the older one ends elsewhere, the newer one continues from something that is gone. It stays without effect,
  // since no later record of the older one can have the checksum that it names, and the next swap writes over it.
  return continues ? result(scan(segments, newer), first) : result(first);
}

/** The header of an import that was decided and not finished, when there is one: then nothing else counts. */
export function pendingImport(segments: readonly [GuardedFile, GuardedFile]): SegmentHeader | undefined {
  const newest = readHeaders(segments).at(-1);
  return newest?.state === 'importing' ? newest : undefined;
}

/** Those that are valid, older first. */
function readHeaders(segments: readonly [GuardedFile, GuardedFile]): SegmentHeader[] {
  const headers = segments.map(readSegmentHeader).filter((header) => header !== undefined);
  return headers.sort((left, right) => left.generation - right.generation);
}

/**
 * The generations that may count, older first: not `done`, nor before one that is, nor before one that starts afresh.
 */
function liveHeaders(sorted: readonly SegmentHeader[]): readonly SegmentHeader[] {
  const done = sorted.findLast((header) => header.state === 'done')?.generation ?? -1;
  const first = sorted.findLast((header) => header.isFirst)?.generation ?? 0;
  return sorted.filter((header) => header.generation > done && header.generation >= first);
}

/** A lone generation whose predecessor never reached the disk has nothing to stand on. */
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
