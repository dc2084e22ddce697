import { encodeDeliveryGroups, type ChangeGroup } from '@rockpool/shared';

/** The groups of a delivery as bytes, in parts of up to `maxBytes` unless one row has more. The last part goes with the delivery itself. At least one. */
export function encodeParts(groups: readonly ChangeGroup[], maxBytes: number): readonly Uint8Array[] {
  const encoded = encodeDeliveryGroups(groups);
  const rowCount = groups.reduce((count, group) => count + group.rowCount, 0);
  if (encoded.length <= maxBytes || rowCount <= 1) return [encoded];
  // A few more than the bytes say, since rows are not alike; what is still too long is divided once more.
  const rowsPerPart = Math.max(1, Math.floor(rowCount / (Math.ceil(encoded.length / maxBytes) + 1)));
  return divide(groups, rowsPerPart).flatMap((part) => encodeParts(part, maxBytes));
}

function divide(groups: readonly ChangeGroup[], rowsPerPart: number): ChangeGroup[][] {
  const parts: ChangeGroup[][] = [];
  let room = 0;
  for (const group of groups) {
    for (let from = 0; from < group.rowCount; ) {
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
  return { ...group, rowCount: to - from, keys: keys.map((part) => part.slice(from, to)), values: values.map((column) => column.slice(from, to)) };
}
