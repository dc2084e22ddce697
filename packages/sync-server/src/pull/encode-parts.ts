import { encodeDeliveryGroups, type ChangeGroup } from '@rockpool/shared';
import type { Readable } from '../store/read-filter.ts';

/**
 * Encodes the groups of a delivery in parts of up to `maxBytes`, unless a single row is larger. Returns at least one
 * part. The last one is sent within the delivery itself.
 */
export function encodeParts(groups: Readable<readonly ChangeGroup[]>, maxBytes: number): readonly Uint8Array[] {
  return encodeDivided(groups, maxBytes);
}

function encodeDivided(groups: readonly ChangeGroup[], maxBytes: number): readonly Uint8Array[] {
  const rowCount = groups.reduce((count, group) => count + group.rowCount, 0);
  const likelyRows = rowCount > 2 * SAMPLE_ROWS ? likelyRowsPerPart(groups, maxBytes) : rowCount;
  // Divides immediately, because encoding the whole first would take twice as long.
  if (2 * likelyRows < rowCount) return divide(groups, likelyRows).flatMap((part) => encodeDivided(part, maxBytes));
  const encoded = encodeDeliveryGroups(groups);
  if (encoded.length <= maxBytes || rowCount <= 1) return [encoded];
  // One part more than the bytes require, because rows differ in size. A part that is still too long is divided again.
  const rowsPerPart = Math.max(1, Math.floor(rowCount / (Math.ceil(encoded.length / maxBytes) + 1)));
  return divide(groups, rowsPerPart).flatMap((part) => encodeDivided(part, maxBytes));
}

const SAMPLE_ROWS = 500;

/** Estimated from the first rows, minus a tenth: later rows may be longer. */
function likelyRowsPerPart(groups: readonly ChangeGroup[], maxBytes: number): number {
  const sample = divide(groups, SAMPLE_ROWS)[0] ?? [];
  return Math.max(1, Math.floor((0.9 * maxBytes * SAMPLE_ROWS) / encodeDeliveryGroups(sample).length));
}

function divide(groups: readonly ChangeGroup[], rowsPerPart: number): ChangeGroup[][] {
  const parts: ChangeGroup[][] = [];
  let room = 0;
  for (const group of groups) {
    for (let from = 0; from < group.rowCount;) {
      if (room === 0) {
        parts.push([]);
        room = rowsPerPart;
      }
      const to = Math.min(group.rowCount, from + room);
      parts.at(-1)?.push(slice(group, from, to));
      room -= to - from;
      from = to;
    }
  }
  return parts;
}

function slice(group: ChangeGroup, from: number, to: number): ChangeGroup {
  if (from === 0 && to === group.rowCount) return group;
  const { keys, values } = group;
  return {
    ...group,
    rowCount: to - from,
    keys: keys.map((part) => part.slice(from, to)),
    values: values.map((column) => column.slice(from, to)),
  };
}
