import type { GuardedFile } from '../media/guarded-file.ts';
import { StorageError } from '../storage-error.ts';
import { generationFromHeader } from './generation.ts';
import type { Generation } from './generation.ts';
import { RecordReader } from './record-reader.ts';
import { FORMAT_VERSION, readSegmentHeader } from './segment-header.ts';
import type { SegmentHeader } from './segment-header.ts';

/** What two segments say when they are read from the start. */
export interface RecoveredLog {
  readonly pageSizeBytes: number;
  /** The generation that is being written; `undefined` when everything is in the database file. */
  readonly active: Generation | undefined;
  /** The one before, complete, when it is not yet (surely) in the database file. */
  readonly sealed: Generation | undefined;
  /** A segment whose generation continues from a transaction that is gone; its header must be made void before it is written on. */
  readonly orphan: number | undefined;
  /** Number of the newest generation that any header names. */
  readonly newest: number;
  /** Last transaction known, or 0. */
  readonly lastTransactionId: number;
}

/**
 * Reads the log as it is: valid records up to the first invalid one. Changes nothing, so readers use it beside a living writer too.
 * Returns `undefined` when no segment has a valid header: no writer ever opened this database.
 *
 * Why the result is a prefix of what was committed:
 * 1. A record counts only if its checksum holds and it names the checksum of the record before: no gaps, nothing stale.
 * 2. A generation counts only if the one before ends at exactly its base, or is `done`, which is flushed only after the database file is.
 * 3. A segment is written anew only after its `done` is flushed: a half overwritten old generation can never be taken for a live one.
 */
export function readLog(segments: readonly [GuardedFile, GuardedFile]): RecoveredLog | undefined {
  const headers = segments.map(readSegmentHeader).filter((header) => header !== undefined);
  for (const header of headers) {
    if (header.formatVersion > FORMAT_VERSION) throw new StorageError('storage-unsupported', { missing: [`log format ${header.formatVersion}`] });
  }
  headers.sort((left, right) => left.generation - right.generation);
  const newest = headers.at(-1);
  if (newest === undefined) return undefined;
  const newestDone = headers.findLast((header) => header.state === 'done')?.generation ?? -1;
  const live = headers.filter((header) => header.generation > newestDone);
  const [older, newer] = live;
  const common = { pageSizeBytes: newest.pageSizeBytes, newest: newest.generation };
  if (older === undefined) {
    return { ...common, active: undefined, sealed: undefined, orphan: undefined, lastTransactionId: newest.baseTransactionId };
  }
  const first = scan(segments, older);
  if (newer === undefined) {
    return { ...common, active: first, sealed: undefined, orphan: undefined, lastTransactionId: first.lastTransactionId };
  }
  const continues = first.lastTransactionId === newer.baseTransactionId && first.lastChecksum === newer.baseChecksum;
  if (!continues) {
    return { ...common, active: first, sealed: undefined, orphan: newer.generation % 2, lastTransactionId: first.lastTransactionId };
  }
  const second = scan(segments, newer);
  return { ...common, active: second, sealed: first, orphan: undefined, lastTransactionId: second.lastTransactionId };
}

function scan(segments: readonly [GuardedFile, GuardedFile], header: SegmentHeader): Generation {
  const generation = generationFromHeader(header);
  const segment = segments[header.generation % 2]!;
  const reader = new RecordReader(header.pageSizeBytes);
  while (reader.take(segment, generation, 'every-record') === 'commit');
  return generation;
}
