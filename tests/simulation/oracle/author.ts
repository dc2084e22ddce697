import { hiddenCell, WHOLE_ROW, type RecordedWrite } from './recorded-writes.ts';
import { isLater, Undetermined, type Author, type Version } from './row-rules.ts';

export interface LogAtWrite {
  readonly epoch: string;
  /** The watermark up to which the log is that of the previous log epoch. */
  readonly startedAt: number;
  /** Whether the sender's file has had this site id (hex) earlier; `first`: when it had that one, or later. */
  readonly hadSite: (earlier: string, first: string) => boolean;
  /** How many log epochs the server has begun so far; null while one begins. */
  readonly epochsBegun: number | null;
}

/** What the author of a write counts as having seen. */
export function authorOf(
  write: RecordedWrite,
  version: Version,
  { epoch, startedAt, hadSite, epochsBegun }: LogAtWrite,
): Author {
  // An author that had received nothing has only its own rows, whatever the log.
  const isOfOlderEpoch = write.epoch !== null && write.epoch !== epoch && write.cursor > 0;
  // A backup may restore an earlier log epoch, or lack the end of the log that the author had seen.
  const isOfTwoEpochs =
    write.epoch !== null &&
    (epochsBegun === null ||
      (write.epoch === epoch && (write.epochsBegun !== epochsBegun || write.cursor >= version.watermark)));
  const baseOf = (row: string, column: string): number | null => {
    if (write.hidden === null) return null;
    const ofRow = write.hidden.get(hiddenCell(row, WHOLE_ROW)) ?? write.cursor;
    return Math.min(write.cursor, ofRow, write.hidden.get(hiddenCell(row, column)) ?? write.cursor);
  };
  // A file that continues as a new site has still written what it wrote before. But its rows may lack what it sent as
  // the old site until a delivery brings that back, so only older writes have seen it.
  const isOwn = ({ site, root }: Version): boolean => {
    if (site === version.site) return true;
    if (root === undefined || (write.past.roots.get(root) ?? Infinity) >= write.past.count || !hadSite(site, site))
      return false;
    // A restored server may no longer know what an earlier site sent.
    if (isOfOlderEpoch || isOfTwoEpochs) throw new Undetermined('a write of an earlier site and one of an older log');
    if (hadSite(site, write.site)) return true;
    // The rows may have stayed as they were, or have lost what the old site sent.
    if (write.awaitsFullResync) throw new Undetermined('a write of a new site before its full resync');
    return false;
  };
  const hasSeen = (base: number | null, stored: Version): boolean => {
    if (isOwn(stored)) return true;
    if (isOfTwoEpochs) throw new Undetermined('a write of a log epoch that a backup restored');
    if (stored.watermark > write.cursor) {
      if (stored.isUnknown === true) throw new Undetermined('a value taken over from the server');
      return false;
    }
    if (base === null) throw new Undetermined('what the author had seen is not known');
    if (stored.watermark > base && stored.isUnknown === true)
      throw new Undetermined('a value taken over from the server');
    return stored.watermark <= base;
  };
  const hasSeenRow = (row: string, stored: Version): boolean => {
    if (!isOfOlderEpoch || isOfTwoEpochs || isOwn(stored)) return hasSeen(baseOf(row, WHOLE_ROW), stored);
    if (stored.watermark <= write.cursor || stored.isUnknown === true)
      throw new Undetermined('a row and a write of an older log');
    return false;
  };
  return {
    version,
    get isOfOlderEpoch() {
      if (isOfTwoEpochs) throw new Undetermined('a write of a log epoch that a backup restored');
      return isOfOlderEpoch;
    },
    hasSeenRow,
    hadRow: (row, inserted) => {
      const isEarlier = isOfOlderEpoch && !isOfTwoEpochs && isLater(version, inserted);
      // The author's own insert hid any row with the same key.
      if (isEarlier && !isOwn(inserted) && write.hidden?.has(hiddenCell(row, WHOLE_ROW)) !== false)
        throw new Undetermined('a row that an own insert hid, and a write of an older log');
      return isEarlier || hasSeenRow(row, inserted);
    },
    hasSeenDelete: (row, deleted) => {
      const hasSeenIt = hasSeenRow(row, deleted);
      // An earlier write of the same author may have covered values of the row; otherwise the base is that of the
      // changeset.
      if (!hasSeenIt && deleted.watermark <= write.cursor)
        throw new Undetermined('a delete of a parent, and a row that an own write may have hidden');
      return hasSeenIt;
    },
    hasSeenUpdate: ({ row }, update) => {
      if (!hasSeenRow(row, update.version)) return false;
      if (isOwn(update.version)) return true;
      const isHidden = (column: string): boolean => (baseOf(row, column) ?? 0) < update.version.watermark;
      if (update.columns.some(isHidden)) return false;
      if (
        write.hidden !== null &&
        [...write.hidden].some(([cell, base]) => cell.startsWith(`${row}\u001d`) && base < update.version.watermark)
      )
        throw new Undetermined('a delete over a value that another one hid');
      return true;
    },
    hasSeenCell: ({ row, table }, column, stored) => {
      if (isOfOlderEpoch && !isOfTwoEpochs) {
        if (stored.isUnknown === true) throw new Undetermined('a value taken over from the server');
        // docs/merge-rules.md does not say whether an author who had seen only what both logs contain counts as an
        // author of the older log.
        if (!isOwn(stored) && stored.watermark <= write.cursor && write.cursor <= startedAt)
          throw new Undetermined('a value from before the log epoch, and a write of the older log');
        return isOwn(stored);
      }
      const group = table.groups.find((members) => members.includes(column)) ?? [column];
      const bases = group.map((one) => baseOf(row, one));
      return hasSeen(bases.includes(null) ? null : Math.min(...(bases as number[])), stored);
    },
  };
}
