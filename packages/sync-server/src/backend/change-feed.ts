import type { LiveDatabase } from '../database/live-database.ts';
import { ChangedRows } from '../pull/changed-rows.ts';
import { deliveredGroups } from '../pull/delivery.ts';
import { toRowUpdates, type RowUpdate } from './row-updates.ts';

/** Where a service is in a database's log. Kept by the service, and given back to go on from there. */
export interface FeedPosition {
  /** Hex. */
  readonly logEpoch: string;
  readonly watermark: number;
  /**
   * Hex. Stands for what was there up to the watermark: a server that was restored from a backup gives the same
   * watermarks again, to other changesets.
   */
  readonly logHash: string;
}

/** What has changed since a position: state, not history. A row that changed a hundred times is in it once. */
export interface FeedChange extends FeedPosition {
  /**
   * All there is, and not only what changed: the position was of another log, or deletes since then are forgotten. What
   * is not in it is gone.
   */
  readonly whole: boolean;
  readonly rows: readonly RowUpdate[];
}

/** Null: nothing is new. `after` null: everything there is. */
export function changesAfter({ file }: LiveDatabase, after: FeedPosition | null): FeedChange | null {
  const logEpoch = hex(file.logEpoch.id);
  const { watermark } = file.log;
  const whole =
    after === null ||
    after.logEpoch !== logEpoch ||
    after.watermark < file.tombstones.tombstoneHorizon ||
    !isOfThisLog(file, after);
  if (!whole && after.watermark === watermark) return null;
  // A site that has never written is told of deletes only where it may have the row. A service is told of all since its
  // position.
  const groups = deliveredGroups(
    file,
    new ChangedRows(file),
    { siteNumber: null, from: whole ? 0 : after.watermark, ownFrom: 0 },
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

/** Yields what is new now, then whatever comes, until it is left or the signal aborts. */
export async function* followChanges(
  open: () => Promise<LiveDatabase>,
  from: FeedPosition | null,
  signal: AbortSignal,
): AsyncGenerator<FeedChange, void, undefined> {
  let position = from;
  while (!signal.aborted) {
    const database = await open();
    const { change, next } = await database.read(() => {
      const found = signal.aborted ? null : changesAfter(database, position);
      // Waited for from here on: no commit comes in between.
      return { change: found, next: found === null ? database.nextCommit(signal) : null };
    });
    if (change !== null) {
      position = change;
      yield change;
    } else if (!(await next)) return;
  }
}
