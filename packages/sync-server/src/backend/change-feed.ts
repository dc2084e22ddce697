import type { LiveDatabase } from '../database/live-database.ts';
import { ChangedRows } from '../pull/changed-rows.ts';
import { deliveredGroups } from '../pull/delivery.ts';
import { toRowUpdates, type RowUpdate } from './row-updates.ts';

/** A position in a database's log. A service saves it, and passes it in to continue from it. */
export interface FeedPosition {
  /** Hex. */
  readonly logEpoch: string;
  readonly watermark: number;
  /**
   * Hex. Identifies the log up to the watermark: after a restore from a backup, watermarks refer to different
   * changesets.
   */
  readonly logHash: string;
}

/**
 * The changes since a position, as state, not history: a row that changed a hundred times is included once. Deletes
 * include those of rows that were inserted after the position: a service that was interrupted before it saved a
 * position may already have processed such rows.
 */
export interface FeedChange extends FeedPosition {
  /**
   * True if `rows` is the full state, because the position belongs to a different log or is below the tombstone
   * horizon. Missing rows do not exist.
   */
  readonly whole: boolean;
  readonly rows: readonly RowUpdate[];
}

/** Null if there are no changes. `after: null` returns the full state. */
export function changesAfter({ file }: LiveDatabase, after: FeedPosition | null): FeedChange | null {
  const logEpoch = hex(file.logEpoch.id);
  const { watermark } = file.log;
  const whole =
    after === null ||
    after.logEpoch !== logEpoch ||
    after.watermark < file.tombstones.tombstoneHorizon ||
    !isOfThisLog(file, after);
  if (!whole && after.watermark === watermark) return null;
  // Reads like a site that has never written.
  const groups = deliveredGroups(
    file,
    new ChangedRows(file),
    { siteNumber: null, from: whole ? 0 : after.watermark, ownFrom: 0, mayBeAhead: !whole },
    [],
  );
  return { logEpoch, watermark, logHash: hex(file.log.hashAt(watermark)), whole, rows: toRowUpdates(groups, file) };
}

function isOfThisLog({ log }: LiveDatabase['file'], { watermark, logHash }: FeedPosition): boolean {
  return (
    Number.isInteger(watermark) &&
    watermark >= 0 &&
    watermark <= log.watermark &&
    hex(log.hashAt(watermark)) === logHash
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** Yields the changes since `from`, then those of later commits, until the loop ends or the signal aborts. */
export async function* followChanges(
  open: () => Promise<LiveDatabase>,
  from: FeedPosition | null,
  signal: AbortSignal,
): AsyncGenerator<FeedChange, void, undefined> {
  let position = from;
  while (!signal.aborted) {
    const found = await nextChange(open, position, signal).catch((thrown: unknown) => {
      // A server that closes takes its databases offline below a read.
      if (signal.aborted) return null;
      throw thrown;
    });
    if (found === null) return;
    const { change, next } = found;
    if (change !== null) {
      position = change;
      yield change;
    } else if (!(await next)) return;
  }
}

async function nextChange(
  open: () => Promise<LiveDatabase>,
  position: FeedPosition | null,
  signal: AbortSignal,
): Promise<{ readonly change: FeedChange | null; readonly next: Promise<boolean> | null }> {
  const database = await open();
  return database.read(() => {
    const change = signal.aborted ? null : changesAfter(database, position);
    // Registered in the same task, so no commit can happen in between.
    return { change, next: change === null ? database.nextCommit(signal) : null };
  });
}
